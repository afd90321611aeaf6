// The build bundles this file with its libraries, which are no dependencies of the package.
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom/worker';

export { Plot };

/** The part of a DOM element that drawing needs: the types of browsers are not available here. */
interface DrawnElement {
  textContent: string | null;
  readonly innerHTML: string;
  readonly parentElement: DrawnElement | null;
  setAttribute(name: string, value: string): void;
  replaceChildren(...children: readonly unknown[]): void;
  querySelector(selector: string): DrawnElement | null;
  querySelectorAll(selector: string): Iterable<DrawnElement>;
}

export interface DrawingDocument {
  readonly body: DrawnElement;
}

/** A document to draw in, without a browser. */
export function openDocument(): DrawingDocument {
  return parseHTML('<!doctype html><html><head></head><body></body></html>').document;
}
