import type { LiveValue } from "@holdfast/sdk/bindings";
import { type ComputedRef, computed, shallowRef, watch } from "vue";

/**
 * The value, until the scope ends. `open` may read refs: when one of them changes, it is opened anew. What depends on the
 * result runs again only if the value is another one.
 */
export function useLiveValue<T>(open: () => LiveValue<T>): ComputedRef<T> {
  const live = computed(open);
  const notifications = shallowRef(0);
  const notify = () => {
    notifications.value += 1;
  };
  // Synchronous, so that no notification is missed between two of them.
  watch(live, ({ subscribe }, _, onCleanup) => onCleanup(subscribe(notify)), { immediate: true, flush: "sync" });
  return computed(() => {
    void notifications.value;
    return live.value.read();
  });
}
