import { spawn } from 'node:child_process'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../testing.js'

const GW = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))

/** A `gw` command in a pseudo terminal. */
export interface TerminalSession {
  readonly exited: Promise<number | null>
  /** Everything that the command has written, with escape sequences. */
  text(): string
  /** Process id of the command. */
  pid(): number
  /** Sends keys and waits for output that matches. */
  press(keys: string, expected: RegExp): Promise<void>
}

/** Runs a `gw` command in a pseudo terminal of 120 columns and 20 rows. */
export function gwInTerminal(t: TestContext, args: readonly string[]): TerminalSession {
  const command = `stty cols 120 rows 20; echo "pid $$"; exec ${process.execPath} ${GW} ${args.join(' ')}`
  const terminal = spawn('script', ['-qec', `sh -c '${command}'`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  terminal.stdout.setEncoding('utf8').on('data', (data: string) => {
    text += data
  })
  const exited = new Promise<number | null>((resolve) => terminal.once('exit', resolve))
  t.after(() => terminal.kill())
  return {
    exited,
    text: () => text,
    pid: () => Number(/pid (\d+)/.exec(text)?.[1]),
    press: async (keys, expected) => {
      const start = text.length
      terminal.stdin.write(keys)
      await until(
        () => expected.test(text.slice(start)),
        () => text.slice(start),
      )
    },
  }
}
