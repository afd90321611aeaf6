import { answerCalls } from './call-thread.ts';
import { LoaderHost } from './loader-host.ts';

// Entry of the worker thread, which decodes pages and writes files.

answerCalls(new LoaderHost());
