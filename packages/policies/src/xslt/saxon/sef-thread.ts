import { parentPort, workerData } from 'node:worker_threads'
import type { StylesheetSource } from '../stylesheet-source.js'
import type { CompilerMessage } from './compile-sef.js'
import { filesOf, loadConfined } from './confined-module.js'

const tell = (message: CompilerMessage): void => parentPort?.postMessage(message)

// The compiler is a program: it runs when it is loaded, and its end is that of the thread.
loadConfined('xslt3', {
  files: filesOf(workerData as StylesheetSource),
  args: ['-xsl:/stylesheet.xsl', '-export:/stylesheet.sef.json', '-nogo'],
  write: (sef) => tell({ sef }),
  print: (said) => tell({ said: String(said) }),
  exit: () => undefined,
})
