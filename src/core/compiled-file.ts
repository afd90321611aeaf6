/** Folder of the sources, or of what they are compiled to. */
const ROOT = new URL('../', import.meta.url).href;
const ARE_SOURCES = import.meta.url.endsWith('.ts');

/** The compiled file of a thread or a process, by its place beside the module that starts it; tests run sources, and use the last build. */
export function compiledFile(file: URL): URL {
  if (!ARE_SOURCES || !file.href.startsWith(ROOT)) return file;
  return new URL(`../dist/src/${file.href.slice(ROOT.length)}`, ROOT);
}
