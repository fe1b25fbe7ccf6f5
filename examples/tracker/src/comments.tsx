import { Button } from "./fields.tsx";
import type { Issue } from "./filter.ts";
import { useMutation, useQuery, user } from "./sync.ts";

export function Comments({ issue: { id: issueId, projectId } }: { issue: Issue }) {
  const comments = useQuery("comment", { where: { issueId }, orderBy: "$createdAt", include: { author: true } });
  const { create } = useMutation("comment");
  const add = (form: FormData) => void create({ issueId, projectId, authorId: user, text: String(form.get("text")) });
  return (
    <>
      <h3>Comments</h3>
      {comments.map(({ id, author, text, $createdAt: at }) => (
        <article key={id}>
          <small>
            {author?.name}, {at && new Date(at).toLocaleString()}
          </small>
          <p>{text}</p>
        </article>
      ))}
      <form action={add}>
        <label>
          Your comment
          <textarea name="text" required rows={2} />
        </label>
        <Button type="submit">Send</Button>
      </form>
    </>
  );
}
