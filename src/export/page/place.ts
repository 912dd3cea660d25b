/**
 * Places of a page in its address: `?leafId=…&targetId=…`, the end of the branch that is shown and the entry looked at.
 * Part of the page; pure.
 */
export interface Place {
  leafId: string | undefined;
  targetId: string | undefined;
}

/** @param search of an address, with its `?` */
export function readPlace(search: string): Place {
  const query = new URLSearchParams(search);
  return { leafId: query.get("leafId") ?? undefined, targetId: query.get("targetId") ?? undefined };
}

/** The address's search with another place in it; the rest of it stays, so does a first name without a value. */
export function withPlace(search: string, { leafId, targetId }: Place): string {
  const kept = search
    .replace(/^\?/, "")
    .split("&")
    .filter((part) => part !== "" && !/^(?:leafId|targetId)(?:=|$)/.test(part));
  if (leafId !== undefined) kept.push(`leafId=${encodeURIComponent(leafId)}`);
  if (targetId !== undefined) kept.push(`targetId=${encodeURIComponent(targetId)}`);
  return kept.length === 0 ? "" : `?${kept.join("&")}`;
}
