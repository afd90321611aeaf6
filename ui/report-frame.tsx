/** A report in a sandboxed frame. */
export function ReportFrame({ address, title }: { readonly address: string; readonly title: string }) {
  return (
    <div class="report-frame">
      <iframe src={address} title={title} sandbox="allow-scripts" />
      <a href={address} target="_blank" rel="noreferrer" class="plain">
        Open by itself
      </a>
    </div>
  );
}
