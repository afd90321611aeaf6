import { ApiError } from './api.ts';

/** An error, its place in a query, and what to do about it. */
export function Failed({ error }: { readonly error: Error }) {
  const { hint, excerpt } = error instanceof ApiError ? error : {};
  return (
    <div class="note bad" role="alert">
      <p>{error.message}</p>
      {excerpt !== undefined && <pre>{excerpt}</pre>}
      {hint !== undefined && <p class="soft">{hint}</p>}
    </div>
  );
}

/** Gaps of a table or result. */
export function Gaps({ gaps }: { readonly gaps: readonly string[] }) {
  if (gaps.length === 0) return null;
  return (
    <div class="note warn" role="status">
      {gaps.map((gap) => (
        <p key={gap}>{gap}</p>
      ))}
    </div>
  );
}
