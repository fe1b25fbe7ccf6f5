const hex = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i));

/** Strings that have broken other programs. */
export const naughtyStrings: readonly string[] = [
  // Empty, nearly empty, and names with a meaning elsewhere
  ...["", " ", "  ", "\t", "\n", "\r\n", "undefined", "null", "NULL", "nil", "None", "true", "false", "NaN"],
  ...["Infinity", "-0", "0x10"],
  ...["1e309", "1E2", "0.1.2", "1,000", "١٢٣", "１２３", "\\N", "\\.", "{}", "[]", '"', "'", "`", "''", '""', "\\"],
  ...["\\\\", "\\u0000", "%00", "%s%n%x"],
  ...["__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "__defineGetter__", "then"],
  ...["toJSON", "length", "id"],
  // Paths, addresses, commands
  ...[".", "..", "../../etc/passwd", "..%2f", "C:\\con", "/dev/null", "file:///", "a/b", "a?b=c", "a#b", "a&b"],
  ...["a;b", "//host", "http://[::1]/"],
  ...["$(touch x)", "`id`", "; ls", "| cat", "&& true", "$HOME", "$\u007b7*7}", "{{7*7}}", "<%= 7*7 %>"],
  ...["%{(#a=1)}", "() { :; }", "-rf", "--help"],
  // SQL, JSON paths, markup
  ...["'; drop table holdfast.log; --", "1' or '1'='1", "1; select pg_sleep(10)", "' union select null--", "$1"],
  ...["$$", "$tag$", "::text", "/*", "*/", "--", "E'\\\\'"],
  ...["$.a", "$..*", "{a,b}", "{NULL}", '{"a"', "(1,2)", "[1,2)", "<script>alert(1)</script>", "<!--", "]]>"],
  ...["&lt;", "&#0;", "javascript:1", "<svg/onload=1>"],
  // Control characters, one by one, and the separators that some parsers take for line ends
  ...hex(0x00, 0x1f).map((character) => `a${character}b`),
  ...hex(0x7f, 0x9f)
    .filter((_, i) => i % 4 === 0)
    .map((character) => `a${character}b`),
  ...["\u0085", "\u2028", "\u2029", "\u00a0", "\u1680", "\u180e", "\u2000", "\u202f", "\u205f", "\u3000", "\ufeff"],
  ...["\ufeffbom", "mid\ufeffdle"],
  // Invisible, right to left, combining, ligatures, cases that change the length
  ...["\u200b", "a\u200db", "\u2060", "\u00ad", "\u202eabc", "\u2066abc\u2069", "\u061c", "שלום", "مرحبا", "אa1ב"],
  ...["Z\u0351\u036b\u0343\u032a", "e\u0301", "é"],
  ...["ﬁ", "ẞ", "ß", "ı", "İ", "ǅ", "Ω", "Ω", "Å", "ﷺ", "ཀྵ", "ก็็็็็็็็็็", "ᄀᄀᄀ각ᆨᆨ", "漢字", "カタカナ", "ｶﾀｶﾅ"],
  ...["𝕳𝖊𝖑𝖑𝖔", "𠜎𠜱", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫", "👍🏿", "\u{10ffff}", "\u{e0001}"],
  // Not characters, private ones, halves of pairs
  ...["\ufffe", "\uffff", "\ufdd0", "\u{1fffe}", "\ue000", "\ufffd", "\ud800", "\udfff", "a\ud83d", "\ude00a"],
  ...["\udc00\ud800", "\ud83d\ud83d\ude00"],
  // Long
  ...[
    "x".repeat(256),
    "é".repeat(255),
    "😀".repeat(128),
    "a ".repeat(500),
    "\\".repeat(300),
    '"'.repeat(300),
    "(".repeat(200),
    "[".repeat(200),
  ],
];
