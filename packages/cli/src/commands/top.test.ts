import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { gwInTerminal, type TerminalSession } from '../testing/terminal.js'
import { gw, origin, type RunningGateway, startGateway } from '../testing.js'

const ENTER = '\u001b[?1049h'
const LEAVE = '\u001b[?25h\u001b[?1049l'

async function startBusyGateway(t: TestContext): Promise<RunningGateway> {
  const target = await origin(t, (_req, res) => res.end('hello'))
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams: { up: { targets: ["${target}"] } }
routes:
  - { id: orders, match: { path: /orders }, upstream: up, policies: [{ use: cors, with: { origins: ["*"] } }] }
  - { id: items, match: { path: /items }, upstream: up }
`,
  )
  for (const path of ['/orders', '/orders', '/items']) await (await fetch(gateway.url + path)).arrayBuffer()
  return gateway
}

/** Runs `gw top` in a pseudo terminal. */
function topInTerminal(t: TestContext, { admin }: RunningGateway): TerminalSession {
  return gwInTerminal(t, ['top', '--server', admin])
}

test('the keyboard selects, filters and opens routes, and the terminal is restored at the end', async (t) => {
  const terminal = topInTerminal(t, await startBusyGateway(t))
  await terminal.press('', /items /)
  assert.ok(terminal.text().includes(ENTER))
  await terminal.press('sssss', /sorted by total[\s\S]*\u001b\[7morders /)
  await terminal.press('j', /\u001b\[7mitems /)
  await terminal.press('\u001b[A', /\u001b\[7morders /)
  await terminal.press('/ite', /filter: ite_/)
  await terminal.press('\u007f\u007f\u007forders\r', /filter: orders\u001b/)
  await terminal.press('\r', /goes to upstream up[\s\S]*orders\/1 +cors[\s\S]*http:\S+ +available +0 +3 /)
  await terminal.press('\u001b', /sorted by total; filter: orders/)
  await terminal.press('q', /\u001b\[\?1049l/)
  assert.equal(await terminal.exited, 0)
  assert.ok(terminal.text().endsWith(LEAVE))
})

test('a gateway that goes away is reported, and a signal restores the terminal', async (t) => {
  const gateway = await startBusyGateway(t)
  const terminal = topInTerminal(t, gateway)
  await terminal.press('', /items /)
  gateway.process.kill()
  await gateway.exited
  await terminal.press('', /no connection, the figures are old/)
  process.kill(terminal.pid(), 'SIGTERM')
  await terminal.exited
  assert.ok(terminal.text().endsWith(LEAVE))
})

test('without a terminal one table is printed, and JSON with --once', async (t) => {
  const gateway = await startBusyGateway(t)
  const { code, stdout } = await gw(['top', '--server', gateway.admin])
  assert.equal(code, 0)
  assert.match(stdout, /^Sluice .*\n[\d.]+ req\/s, .* 1 of 1 worker ready, .*\n\nROUTE .*\n/)
  assert.match(stdout, /\norders +0 .* 2\n/)
  const json = await gwInProcess(['top', '--once', '-o', 'json', '--server', gateway.admin])
  const { routes } = JSON.parse(json.stdout)
  const totals = Object.fromEntries(
    routes.map((row: { route: string; total: number }) => [row.route, row.total]),
  )
  assert.deepEqual([totals.orders, totals.items], [2, 1])
  assert.match((await gwInProcess(['top', '-o', 'json'])).stderr, /-o json needs --once/)
})
