import { CopyButton } from './cell-panel.tsx';

/** A command line to copy. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}
