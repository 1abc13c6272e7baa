import { parentPort, workerData } from 'node:worker_threads'
import type { StylesheetSource } from '../stylesheet-source.js'
import type { Compiled } from './compile-sef.js'
import { filesOf, loadConfined } from './confined-module.js'

/** Longest explanation that is passed on. */
const MAX_PROBLEM_CHARS = 500

/** Runs the compiler, which is a program, to its end. */
function compile(source: StylesheetSource): void {
  const said: string[] = []
  let sef = ''
  let isOver = false
  const finish = (compiled: Compiled): void => {
    if (!isOver) parentPort?.postMessage(compiled)
    isOver = true
  }
  const ended = (): void => finish(sef === '' ? { problem: problemOf(said) } : { sef })
  loadConfined('xslt3', {
    files: filesOf(source),
    args: ['-xsl:/stylesheet.xsl', '-export:/stylesheet.sef.json', '-nogo'],
    write(text) {
      sef = text
      ended()
    },
    print: (text) => said.push(text),
    exit: ended,
  })
}

function problemOf(said: readonly string[]): string {
  return (
    said.join(' ').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_PROBLEM_CHARS) ||
    'the compiler does not say why'
  )
}

compile(workerData as StylesheetSource)
