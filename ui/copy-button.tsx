import { useState } from 'preact/hooks';

/** A button that copies a text. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(setCopied, 1500, false);
  };
  return (
    <button type="button" class="plain" onClick={() => void copy()}>
      {isCopied ? 'Copied' : label}
    </button>
  );
}

/** A command line to copy. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}
