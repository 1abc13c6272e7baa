import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { createProgram } from './program.js'
import { gwInProcess } from './testing/in-process.js'
import { gw, scratch, spawnGw } from './testing.js'

const GW = fileURLToPath(new URL('../bin/gw.mjs', import.meta.url))
const QUICKSTART = new URL('../../../examples/quickstart/gateway.yaml', import.meta.url)

function leaves(command: Command, path: string): [string, Command][] {
  const children = command.commands.filter((child) => !child.name().startsWith('__'))
  if (children.length === 0) return [[path, command]]
  return children.flatMap((child) => leaves(child, `${path} ${child.name()}`))
}

test('the help of every command has an example', () => {
  for (const [path, command] of leaves(createProgram(), 'gw')) {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text) })
    command.outputHelp()
    assert.match(help, new RegExp(`\\nExamples?:\\n  ${path.replace(' list', '( list)?')}`), path)
  }
})

test('no help is wider than 80 columns, and only the first one describes the global options', () => {
  const pages: [string, string][] = []
  const walk = (command: Command, path: string): void => {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 })
    command.outputHelp()
    pages.push([path, help])
    for (const child of command.commands) walk(child, `${path} ${child.name()}`)
  }
  walk(createProgram(), 'gw')
  assert.ok(pages.length > 80)
  for (const [path, help] of pages) {
    for (const line of help.split('\n')) {
      assert.ok([...line].length <= 80, `${path}: ${line}`)
      // A backslash within quotes would become a part of the argument.
      if (line.endsWith(' \\')) assert.equal(line.replace(/[^'"]/g, '').length % 2, 0, line)
    }
    assert.equal(/ {2}--token-file <file> {2}.*admin API/.test(help), path === 'gw', path)
    assert.equal(/\nGlobal options: .*--quiet; see gw --help\n$/.test(help), path !== 'gw', path)
  }
  const globals = new Map(pages.map(([path, help]) => [path, /Global options: (.*);/.exec(help)?.[1]]))
  assert.equal(globals.get('gw upstream list'), '--server, --token-file, --quiet')
  assert.equal(globals.get('gw control groups'), '--server, --token-file, --quiet')
  assert.equal(globals.get('gw explain'), '--server, --token-file, --quiet')
  for (const path of ['gw validate', 'gw control start', 'gw deploy kubernetes', 'gw explain listener'])
    assert.equal(globals.get(path), '--quiet', path)
  assert.match(new Map(pages).get('gw deploy kubernetes') ?? '', /--dry-run {2,}show(?![\s\S]*--canary)/)
})

const MISTAKES: readonly (readonly [string, RegExp])[] = [
  ['stauts', /^unknown command 'stauts' \(did you mean status\?\); see gw --help\n$/],
  ['status --wach', /^unknown option '--wach' \(did you mean --watch\?\); see gw status --help\n$/],
  ['logs tial', /^unknown command 'tial' \(did you mean tail\?\); see gw logs --help\n$/],
  [
    'validate',
    /^no document given, and this folder has no gateway\.yaml; name one, for example gw validate my\.yaml\n$/,
  ],
  [
    'explain GET /',
    /^no document given, and this folder has no gateway\.yaml; name one, for example gw explain METHOD URL my\.yaml\n$/,
  ],
  [
    'explain /orders ok.yaml',
    /^'\/orders' is not a method; write gw explain GET \/orders ok\.yaml; see gw explain --help\n$/,
  ],
  ['validate -f a b', /^two documents given, 'b' and 'a' \(-c\); name only one; see gw validate --help\n$/],
  ['validate -c a b', /^two documents given, 'b' and 'a' \(-c\); name only one; see gw validate --help\n$/],
  ['validate a b', /^unexpected argument 'b'; see gw validate --help\n$/],
  ['plugin pack --help', /^unknown command 'pack'; see gw plugin --help\n$/],
  ['pluginn --help', /^unknown command 'pluginn' \(did you mean plugin\?\); see gw --help\n$/],
  ['routes shw --help', /^unknown command 'shw' \(did you mean show\?\); see gw routes --help\n$/],
  ['help stauts', /^unknown command 'stauts' \(did you mean status\?\); see gw --help\n$/],
  ['help logs tial', /^unknown command 'tial' \(did you mean tail\?\); see gw logs --help\n$/],
  ['logs help tial', /^unknown command 'tial' \(did you mean tail\?\); see gw logs --help\n$/],
  ['rollback 1', /^unexpected argument '1' \(did you mean --to 1\?\); see gw rollback --help\n$/],
  ['history edge-eu', /^unexpected argument 'edge-eu' \(did you mean --group edge-eu\?\); /],
  ['fleet edge-eu', /^unknown command 'edge-eu' \(did you mean --group edge-eu\?\); see gw fleet --help\n$/],
  ['health http://a:1', /^unexpected argument 'http:\S+ \(did you mean --server http:\/\/a:1\?\); /],
  ['status 10.0.0.1:9901', /\(did you mean --server http:\/\/10\.0\.0\.1:9901\?\); /],
  ['cache purge a.example/b', /\(did you mean --key a\.example\/b\?\); /],
  ['logs tail 5xx', /\(did you mean --status 5xx\?\); /],
  ['logs search /orders', /\(did you mean --path \/orders\?\); /],
  ['logs stats 10m', /\(did you mean --since 10m\?\); /],
  ['schema gateway.yaml', /\(did you mean --config gateway\.yaml\?\); /],
  ['top 5', /\(did you mean --delay 5\?\); /],
  ['version x', /^unexpected argument 'x'; see gw version --help\n$/],
  ['cache purge --key a --all', /^option '--key <key>' cannot be used with option '--all'; /],
  ['cache purge --tag a --all --yes', /^option '--tag <name>' cannot be used with option '--all'; /],
  ['show --group a --file b --files', /^option '--file <path>' cannot be used with option '--files'; /],
  ['deploy a --group b --canary 1 --abort', /'--canary <size>' cannot be used with option '--abort'; /],
  ['deploy --group b --abort --note c', /^option '--abort' cannot be used with option '--note <text>'; /],
  ['deploy kubernetes a --render --helm-values', /'--render' cannot be used with option '--helm-values'; /],
  ['deploy a --team b', /^--team needs --group; see gw deploy --help\n$/],
  ['deploy kubernetes a --quorum 50%', /^--quorum needs --group; see gw deploy kubernetes --help\n$/],
  ['diff a --from 1', /^--from needs --group; see gw diff --help\n$/],
  ['diff a --group b --to 1', /^--from and --to compare two deploys; use them without a document\n$/],
  ['status --namespace a', /^--namespace needs --kubernetes; see gw status --help\n$/],
  ['rollback --timeout 9s', /^--timeout needs --kubernetes; see gw rollback --help\n$/],
  ['logs search --last 3 --all', /^option '--last <n>' cannot be used with option '--all'; /],
  ['logs tail --follow --no-follow', /^option '--follow' cannot be used with option '--no-follow'; /],
  ['consumer set a --role b --no-role', /^option '--role' cannot be used with option '--no-role'; /],
  [
    'explain --id a -H b:c -c d',
    /^option '--id <request>' cannot be used with option '-H, --header <line>'; /,
  ],
  ['explain GET / -c a --since 1h', /^--since needs --id; see gw explain --help\n$/],
  [
    'control start --behind-proxy --tls-cert a',
    /^option '--behind-proxy' cannot be used with option '--tls-cert <file>'; /,
  ],
  ['control token create a --role viewer --routes /', /^--routes needs --team; /],
  ['validate --confg a', /^unknown option '--confg' \(did you mean --config\?\); see gw validate --help\n$/],
  ['deploy --dryrun a', /^unknown option '--dryrun' \(did you mean --dry-run\?\); see gw deploy --help\n$/],
  [
    'bench capacity --rsp 5',
    /^unknown option '--rsp' \(did you mean --rps\?\); see gw bench capacity --help\n$/,
  ],
  ['bench capacity', /^required option '--rps <n>' not specified; see gw bench capacity --help\n$/],
  ['routes shw', /^unknown command 'shw' \(did you mean show\?\); see gw routes --help\n$/],
  ['upstream lst', /^unknown command 'lst' \(did you mean list\?\); see gw upstream --help\n$/],
  ['upstreams nothing', /^unknown command 'nothing'; see gw upstream --help\n$/],
  ['start -c -', /^a gateway watches its document file and cannot read it from stdin; write it to a file\n$/],
  ['drain', /^drain and stop the gateway at http:\S+\? there is no terminal for this question; add --yes\n$/],
  ['import openapi a.yaml -o gateway.yaml', /allowed choices are yaml, json; /],
  ['start a --log-format xml', /allowed choices are console, json; /],
  ['validate -c', /^option '-c, --config <file>' argument missing; /],
  ['validate -c a -o xml', /allowed choices are table, json, yaml; see gw validate --help\n$/],
  ['start -c a --workers 0', /write a whole number from 1 to 64; see gw start --help\n$/],
  ['start -c a --workers 1.5', /write a whole number from 1 to 64/],
  ['start -c a --tier W3', /allowed choices are W1, W2, W4, W8/],
  ['init --issuer https://a', /^--issuer needs --from; see gw init --help\n$/],
  ['explain GET -c a', /^missing required argument 'url'; see gw explain --help\n$/],
  ['', /^Usage: gw /],
  ['logs', /^Usage: gw logs /],
  ['status --server nonsense', /^'nonsense' is not the URL of a gateway; use for example http:/],
  ['status --server ftp://a', /is not the URL of a gateway/],
  ['status --server http://user:secret@a', /is not the URL of a gateway/],
  ['logs search --limit 0', /write a whole number from 1 to 100000; see gw logs search --help\n$/],
  ['logs search --since 1m --until 1h', /^the time range from 1m to 1h is empty; /],
  ['logs search --where t.total>fast', /^'t\.total>fast' compares with 'fast', which is not a number; /],
  ['logs search --dir a --elasticsearch http://b', /^use either --dir or --elasticsearch, not both\n$/],
  ['logs search --dir a --data-stream b', /^--data-stream needs Elasticsearch, but a contains files; /],
  ['logs tail --elasticsearch http://b --data-stream A*', /^'A\*' is not a valid data stream name; /],
  ['logs tail --elasticsearch http://me:pass@b', /^(?!.*pass@)--elasticsearch needs the URL of a cluster /],
  ['logs tail --elasticsearch http://b --es-username me', /^user name and password must be set together: /],
  ['logs tail --target siem', /^--target refers to a target in a document; add -c\n$/],
  [
    'logs tail -c a.yaml --target siem --dir b',
    /^--target refers to a target in the document and cannot be combined with --dir/,
  ],
  [
    'logs tail -c a.yaml --target siem --elasticsearch http://127.0.0.1:1',
    /^--target refers to a target in the document and cannot be combined with --elasticsearch/,
  ],
  ['log-setup --target siem', /^--target refers to a target in a document; add -c\n$/],
  ['log-setup', /^specify the cluster with -c or --elasticsearch\n$/],
  ['log-setup kafka', /allowed choices are es, elasticsearch/i],
  [
    'log-setup --elasticsearch http://b --retention 5m',
    /^'5m' is not a valid retention; use for example 30d, or/,
  ],
  ['log-setup --elasticsearch http://b --replicas 11', /write a whole number from 0 to 10/],
  ['logs tail --status 9x', /^'9x' is not a status; use for example 404, 5xx or 400-499\n$/],
]

for (const [i, [line, message]] of MISTAKES.entries()) {
  test(`wrong usage is reported and exits with 64: gw ${line}`, async () => {
    // `start` says what it says in a process that it starts.
    const run = i === 0 || line.startsWith('start') ? gw : gwInProcess
    const { code, stdout, stderr } = await run(line.split(' ').filter(Boolean))
    assert.match(stderr, message)
    assert.deepEqual([code, stdout], [64, ''])
  })
}

test('help and version go to stdout', async () => {
  const version = `${JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version}`
  const [help, command, flag, json] = await Promise.all([
    gw(['--help']),
    gw(['help', 'deploy']),
    gw(['--version']),
    gw(['version', '-o', 'json']),
  ])
  assert.match(help.stdout, /Running gateway:\n {2}deploy .*\n[\s\S]*Exit codes:/)
  assert.match(command.stdout, /^Usage: gw deploy /)
  assert.equal(flag.stdout, `${version}\n`)
  assert.deepEqual(JSON.parse(json.stdout), { schemaVersion: 1, gw: version, node: process.versions.node })
  for (const { code, stderr } of [help, command, flag, json]) assert.deepEqual([code, stderr], [0, ''])
})

/** Runs gw and returns the files that it loaded: those of the packages, and those of dependencies. */
async function filesOf(
  t: TestContext,
  args: readonly string[],
  exitCode = 0,
): Promise<{ own: string[]; foreign: string[] }> {
  const coverage = scratch(t)
  assert.equal((await gw(args, { env: { NODE_V8_COVERAGE: coverage } })).code, exitCode)
  const files = readdirSync(coverage).flatMap((name) => loadedFiles(join(coverage, name)))
  return {
    own: files.filter((file) => file.includes('/packages/')),
    foreign: files.filter((file) => file.includes('/node_modules/')),
  }
}

test('help loads no more than the command tree', async (t) => {
  const { own, foreign } = await filesOf(t, ['--help'])
  // What a command does is in a file named after it, and what other packages do in theirs.
  const isOfTree = (file: string): boolean =>
    /\/cli\/(bin\/[a-z-]+\.mjs|dist\/bundle\/(main|program\.gw-command|chunk-[A-Z0-9]+)\.js)$/.test(file) ||
    /\/core\/dist\/bundle\/(lib\.(visible-text|system-error)|chunk-[A-Z0-9]+)\.js$/.test(file)
  assert.ok(own.length > 3)
  assert.deepEqual(
    own.filter((file) => !isOfTree(file)),
    [],
  )
  assert.deepEqual(foreign, [])
})

test('validation loads only the policies of the document, and few dependencies', async (t) => {
  const { own, foreign } = await filesOf(t, ['validate', fileURLToPath(QUICKSTART)])
  // Every file costs about a millisecond of CPU time. All policies together are 500 files.
  assert.ok(own.length > 20 && own.length < 100, own.join('\n'))
  // The YAML library consists of 72 files.
  const others = foreign.filter((file) => !file.includes('/node_modules/yaml/'))
  assert.ok(others.length < 5, others.join('\n'))
})

test('a gateway starts without the files of dependencies that few documents need', async (t) => {
  const { own, foreign } = await filesOf(t, ['start', '-c', join(scratch(t), 'missing.yaml')], 3)
  assert.ok(
    own.some((file) => file.endsWith('/gateway/dist/bundle/start.js')),
    own.join('\n'),
  )
  const others = foreign.filter((file) => !/\/node_modules\/(@redis\/client|uWebSockets\.js)\//.test(file))
  assert.deepEqual(others, [])
})

function loadedFiles(report: string): string[] {
  const { result } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly result: readonly { readonly url: string }[]
  }
  return result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
}

test('only terminals get colours, and NO_COLOR and FORCE_COLOR override this', async () => {
  const args = ['policy', 'list']
  const [plain, none, forced] = await Promise.all([
    gw(args, { env: { NO_COLOR: '', FORCE_COLOR: '', CI: 'true' } }),
    gw(args, { env: { NO_COLOR: '1', FORCE_COLOR: '' } }),
    gw(args, { env: { NO_COLOR: '', FORCE_COLOR: '1' } }),
  ])
  assert.ok(!plain.stdout.includes('\u001b'))
  assert.equal(none.stdout, plain.stdout)
  assert.ok(forced.stdout.startsWith('\u001b[1m'))
})

test('a closed output pipe ends a command silently', async (t) => {
  const running = spawnGw(t, ['policy', 'doc', 'api-key', '-o', 'json'])
  running.process.stdout.destroy()
  assert.deepEqual([await running.exited, running.stderr()], [0, ''])
})

test('a result that cannot be written is reported in one line, and the exit code is 1', async () => {
  for (const args of [['policy', 'list'], ['--help'], ['render', '-c', fileURLToPath(QUICKSTART)]]) {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [GW, ...args], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    assert.deepEqual(
      [status, stderr],
      [1, 'cannot write the result: no space left on the device\n'],
      args.join(' '),
    )
  }
})

test('a message that cannot be written does not change the exit code', () => {
  const full = openSync('/dev/full', 'w')
  const { status } = spawnSync(process.execPath, [GW, 'validate', '/nonexistent.yaml'], {
    stdio: ['ignore', 'pipe', full],
  })
  closeSync(full)
  assert.equal(status, 3)
})

test('-o selects the result format in every command that has it', () => {
  for (const [path, command] of leaves(createProgram(), 'gw')) {
    const option = command.options.find(({ short }) => short === '-o')
    assert.ok(option === undefined || option.flags === '-o, --output <format>', path)
  }
})

/** Commands that print no result, or only text for another program. */
const WITHOUT_FORMAT =
  'start, init, fmt, show, logs decrypt, cache-server, service install, service uninstall, completion, control start'

test('a command with -o json prints its errors as an object on stdout, also for wrong usage', async () => {
  const without: string[] = []
  for (const [path, command] of leaves(createProgram(), 'gw')) {
    const options = [...command.options, ...(command.parent?.options ?? [])]
    const formats = options.find(({ short }) => short === '-o')?.argChoices ?? []
    const format = formats.find((one) => one.startsWith('json'))
    const words = path.split(' ').slice(1)
    if (format === undefined) {
      if (!/^(bench|consumer|key|plugin) /.test(words.join(' '))) without.push(words.join(' '))
      continue
    }
    const { code, stdout, stderr } = await gwInProcess([...words, '--nope', '-o', format])
    const { error } = JSON.parse(stdout)
    assert.deepEqual(error, { code: 'usage', exitCode: 64, message: stderr.trim() }, path)
    assert.equal(code, 64)
  }
  assert.deepEqual(without.sort(), WITHOUT_FORMAT.split(', ').sort())
})

test('--quiet suppresses messages, but not results', async () => {
  const [quiet, usual] = await Promise.all([gw(['new-key', '--quiet']), gw(['--quiet', 'new-key'])])
  for (const { code, stdout, stderr } of [quiet, usual]) {
    assert.match(stdout, /^key {4}gw_\S+\nsha256 [0-9a-f]{64}\n$/)
    assert.deepEqual([code, stderr], [0, ''])
  }
})
