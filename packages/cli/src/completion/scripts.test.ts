import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gwInProcess } from '../testing/in-process.js'
import { scratch, until } from '../testing.js'

const GW = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))

/** Completes with gw, and writes the arguments of other calls to a file, one call per line. */
const RECORDER = `#!/bin/sh
case "$1" in __complete|completion) exec "$NODE" "$GW" "$@";; esac
{ printf '<%s>' "$@"; echo; } >> "$CALLS"
`

const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/routes': {
    routes: ['orders', 'x$(touch ran)', 'y`touch ran`', 'z;touch ran', 'q\'w"e', 'p\\q', 'u v'].map((id) => ({
      id,
    })),
  },
  '/v1/upstreams': {
    upstreams: [
      { name: 'shop', targets: [{ url: 'http://10.0.0.5:9000' }, { url: 'http://10.0.0.6:9000' }] },
      { name: 'other', targets: [{ url: 'http://10.0.0.6:9001' }] },
    ],
  },
  '/v1/deploys': { deploys: [{ id: '20261201-a' }, { id: '20261130-b' }] },
}

/** A line with tabs, and the arguments of the command that runs. */
const LINES: readonly (readonly [line: string, call: string])[] = [
  ['gw upstream hea\tsh\t', '<upstream><health><shop>'],
  ['gw start --log-sink=el\t', '<start><--log-sink=elasticsearch>'],
  ['gw start --log-sink el\t', '<start><--log-sink><elasticsearch>'],
  ['gw validate -c gate\t', '<validate><-c><gate way.yaml>'],
  ['gw validate --config=gate\t', '<validate><--config=gate way.yaml>'],
  ['gw deploy fold\tte\t', '<deploy><folder/team.yaml>'],
  ['gw deploy kub\t', '<deploy><kubernetes>'],
  ['gw upstream drain shop http://10.0.0.6\t', '<upstream><drain><shop><http://10.0.0.6:9000>'],
  ['gw rollback --to 20261201\t', '<rollback><--to><20261201-a>'],
  ['gw trace --route=ord\t', '<trace><--route=orders>'],
  ['gw routes show x\t', '<routes><show><x$(touch ran)>'],
  ['gw routes show y\t', '<routes><show><y`touch ran`>'],
  ['gw routes show z\t', '<routes><show><z;touch ran>'],
  ['gw routes show q\t', '<routes><show><q\'w"e>'],
  ['gw routes show p\t', '<routes><show><p\\q>'],
  ['gw routes show u\t', '<routes><show><u v>'],
  ['gw routes show --quiet x\\$\t', '<routes><show><--quiet><x$(touch ran)>'],
  ['gw routes show "ord\t', '<routes><show><orders>'],
]

/** Start files and command lines of shells in a terminal. */
const SHELLS = {
  bash: { command: 'bash --rcfile rc -i', file: 'rc', setup: 'source <(gw completion bash)' },
  zsh: {
    command: 'zsh -i',
    file: '.zshrc',
    setup: 'autoload -U compinit && compinit -u -D && source <(gw completion zsh)',
  },
} as const

function missing(...programs: readonly string[]): string | false {
  const absent = programs.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
  return absent.length > 0 && process.env['CI'] !== 'true' && `not installed: ${absent.join(', ')}`
}

interface Workplace {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly calls: () => string
}

/** Creates a folder with documents and a recorder named gw, and an admin API. */
async function workplace(t: TestContext): Promise<Workplace> {
  const home = scratch(t)
  const [calls, bin] = [join(home, '.calls'), join(home, '.bin')]
  mkdirSync(bin)
  mkdirSync(join(home, 'folder'))
  for (const name of ['gate way.yaml', 'folder/team.yaml', '.calls']) writeFileSync(join(home, name), '')
  writeFileSync(join(bin, 'gw'), RECORDER)
  chmodSync(join(bin, 'gw'), 0o755)
  const server = http.createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(ANSWERS[request.url ?? ''] ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    ZDOTDIR: home,
    TERM: 'dumb',
    LC_ALL: 'C.UTF-8',
    NODE: process.execPath,
    GW,
    CALLS: calls,
    GW_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  return { home, env, calls: () => readFileSync(calls, 'utf8') }
}

for (const [name, { command, file, setup }] of Object.entries(SHELLS)) {
  test(`${name} completes in a terminal, and runs nothing from names`, {
    skip: missing(name, 'script'),
  }, async (t) => {
    const { home, env, calls } = await workplace(t)
    writeFileSync(join(home, file), `PS1='ready> '\n${setup}\n`)
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd: home, env })
    t.after(() => terminal.kill('SIGKILL'))
    let shown = ''
    terminal.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    await until(() => shown.includes('ready> '))
    for (const [line, call] of LINES) {
      const before = calls()
      terminal.stdin.write(`${line}\r`)
      await until(
        () => calls().length > before.length && calls().endsWith('\n'),
        () => shown,
      )
      assert.equal(calls().slice(before.length), `${call}\n`, line)
    }
    assert.ok(!existsSync(join(home, 'ran')), readdirSync(home).join())
  })
}

test('fish completes, and runs nothing from names', { skip: missing('fish') }, async (t) => {
  const { home, env } = await workplace(t)
  const shown = async (line: string): Promise<string> => {
    const script = 'gw completion fish | source; complete --escape -C $argv[1]'
    const child = spawn('fish', ['-N', '-c', script, line], { cwd: home, env })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await new Promise((resolve) => child.once('close', resolve))
    return text
  }
  assert.equal(
    await shown('gw upstream hea'),
    'health\tshow the health of targets, and why some receive no requests\n',
  )
  assert.equal(await shown('gw start --log-sink=el'), '--log-sink=elasticsearch\n')
  assert.equal(await shown('gw validate -c gate'), 'gate\\ way.yaml\n')
  assert.equal(await shown('gw validate --config=fold'), '--config=folder/\n')
  assert.equal(await shown('gw start --tier x'), '')
  assert.equal(await shown('gw routes show x'), 'x\\$\\(touch\\ ran\\)\n')
  assert.equal(await shown("gw routes show 'y"), "'y`touch ran`'\n")
  assert.ok(!existsSync(join(home, 'ran')))
})

test('every shell has a script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await gwInProcess(['completion', shell])
    assert.equal(code, 0)
    assert.match(stdout, /gw __complete -- /)
  }
  assert.equal((await gwInProcess(['completion', 'tcsh'])).code, 64)
})
