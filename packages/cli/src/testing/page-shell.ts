import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from '../program.js'
import { type Outcome, until } from '../testing.js'
import { gwInProcess } from './in-process.js'

/** Exit code and output of a command, on stdout and stderr together. */
export interface CommandResult {
  readonly code: number
  readonly output: string
}

/** Runs commands one after another in the same shell. */
export type PageShell = (
  commands: readonly string[],
  env: Readonly<Record<string, string>>,
) => Promise<readonly CommandResult[]>

const END = '\u0001'
/** Functions in place of programs. `gw` sends its environment, arguments and input to the test. */
const FUNCTIONS = `exec 2>&1
gw() {
  local reply=$BASHPID
  { env -0; printf '\\0'; printf '%s\\0' $# "$@"; cat; } | command curl -sS --data-binary @- "$GW_COMMANDS/$reply"
  cat "$REPLIES/$reply.stderr" >&2
  return "$(<"$REPLIES/$reply.code")"
}
curl() { command curl -sS "$@" && printf x >>"$REPLIES/requests"; }
npx() { shift; gw "$@"; }
sudo() { "$@"; }
for name in cd docker helm kubectl node npm; do eval "$name() { :; }"; done
`

/** Starts a shell that runs in a folder. Its `gw` runs in this process. The folder contains a folder `replies`. */
export async function startPageShell(t: TestContext, folder: string): Promise<PageShell> {
  const replies = join(folder, 'replies')
  const server = http.createServer((request, response) => {
    void text(request).then(async (body) => {
      const { code, stdout, stderr } = await runGw(body, folder)
      writeFileSync(`${replies}${request.url}.stderr`, stderr)
      writeFileSync(`${replies}${request.url}.code`, String(code))
      response.end(stdout)
    })
  })
  process.setMaxListeners(0) // `gw logs` adds listeners in each run
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async (commands, env) => {
    const steps = commands.map((command) => `{ ${command}\n}\nprintf '${END}%d${END}' $?\n`)
    const bash = spawn('bash', ['-c', FUNCTIONS + steps.join('')], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, REPLIES: replies, GW_COMMANDS: url, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const parts = (await text(bash.stdout)).split(END)
    return commands.map((_, i) => ({ output: parts[2 * i] ?? '', code: Number(parts[2 * i + 1] ?? -1) }))
  }
}

/** Returns a command whose `gw` only parses its arguments. */
export function parseOnly(command: string): string {
  return `(export PARSE_ONLY=1; source() { cat >&2; }; ${command})`
}

async function runGw(body: string, folder: string): Promise<Outcome> {
  const end = body.indexOf('\0\0')
  const variables = body.slice(0, end).split('\0')
  const env = Object.fromEntries(variables.map((each) => each.split(/=(.*)/s))) as Record<string, string>
  const [count, ...words] = body.slice(end + 2).split('\0')
  const args = words.slice(0, Number(count))
  const context = { env, cwd: folder, stdin: words.slice(Number(count)).join('\0') }
  if (env.PARSE_ONLY !== undefined) return parse(args)
  // The test has started the gateway. `gw logs tail` would run until it is stopped.
  if (args[0] === 'start') return gwInProcess(['deploy', ...args.slice(1)], context)
  if (args[0] === 'upstream') return whenChecked(() => gwInProcess(args, context))
  if (args[0] !== 'logs') return gwInProcess(args, context)
  await until(() => recordCount(folder) >= readFileSync(join(folder, 'replies/requests')).length)
  return gwInProcess(args[1] === 'tail' ? [...args, '--no-follow'] : args, context)
}

/** Repeats a command until the health of each target is known. */
async function whenChecked(run: () => Promise<Outcome>): Promise<Outcome> {
  let outcome = await run()
  while (outcome.stdout.includes(' unknown ')) outcome = await run()
  return outcome
}

/** Returns the number of records in the traffic log. */
function recordCount(folder: string): number {
  const log = join(folder, 'data/traffic')
  const files = readdirSync(log, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ndjson'),
  )
  return files.reduce((sum, name) => sum + readFileSync(join(log, name), 'utf8').split('\n').length - 1, 0)
}

async function parse(args: readonly string[]): Promise<Outcome> {
  const program = createProgram()
  let stderr = ''
  const disarm = (command: Command): void => {
    command.exitOverride().action(() => {})
    command.configureOutput({ outputError: (message) => (stderr += message) })
    for (const child of command.commands) disarm(child as Command)
  }
  for (const command of program.commands) disarm(command)
  const isValid = await program.parseAsync(['node', 'gw', ...args]).then(
    () => true,
    () => false,
  )
  return { code: isValid ? 0 : 1, stdout: '', stderr }
}
