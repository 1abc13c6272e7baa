import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { main } from '../main.js'
import type { Outcome } from '../testing.js'

/** Environment, working directory and input of a command. */
interface CommandContext {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly stdin?: string
}

type Output = Record<'stdout' | 'stderr', string>

/** Output of the running command; undefined outside a command. */
const commands = new AsyncLocalStorage<Output>()
let last: Promise<unknown> = Promise.resolve()

for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name]
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  stream.write = (...args: unknown[]): boolean => {
    const written = commands.getStore()
    if (written === undefined) return write(...args)
    written[name] += String(args[0])
    return true
  }
}

/**
 * Runs a `gw` command in this process, one at a time. This saves most of a second of CPU time for loading modules. The
 * command must exit by itself and must not use `--quiet`, which would stay in effect. Tests with `gw` cover the real
 * process.
 */
export function gwInProcess(args: readonly string[], context: CommandContext = {}): Promise<Outcome> {
  const run = last.then(() => runAlone(args, context))
  last = run.catch(() => {})
  return run
}

async function runAlone(
  args: readonly string[],
  { env = {}, cwd, stdin = '' }: CommandContext,
): Promise<Outcome> {
  const { exitCode, env: envBefore } = process
  const cwdBefore = process.cwd()
  const input = Object.getOwnPropertyDescriptor(process, 'stdin')!
  const written: Output = { stdout: '', stderr: '' }
  process.env = { ...envBefore, NO_COLOR: '1', ...env }
  if (cwd !== undefined) process.chdir(cwd)
  Object.defineProperty(process, 'stdin', { ...input, get: () => Readable.from([Buffer.from(stdin)]) })
  process.exitCode = undefined
  try {
    await commands.run(written, () => main(['node', 'gw', ...args]))
    return { ...written, code: Number(process.exitCode ?? 0) }
  } finally {
    process.exitCode = exitCode
    process.env = envBefore
    process.chdir(cwdBefore)
    Object.defineProperty(process, 'stdin', input)
  }
}
