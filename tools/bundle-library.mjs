import { build } from 'esbuild';

/** Bundles a compiled file with the libraries that it imports, in its place. */
export function bundleLibrary(file) {
  return build({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    charset: 'utf8',
    legalComments: 'eof',
    logLevel: 'warning',
  });
}
