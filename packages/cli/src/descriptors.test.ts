import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { documentFor, fileWith, origin, startGateway, statusOf, until } from './testing.js'

const DESCRIPTORS = 1024
const WAVES = 3
/** More than the worker may have; a system that lets this process have fewer shows nothing. */
const WAVE = 3000

test('connections beyond the descriptor limit do not crash a worker, and it serves afterwards', async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const node = fileWith(t, `#!/bin/sh\nulimit -n ${DESCRIPTORS}\nexec "${process.execPath}" "$@"\n`, 'node')
  chmodSync(node, 0o755)
  const gateway = await startGateway(t, documentFor(target), ['--workers', '1'], { node })
  const { pid } = (await statusOf(gateway.admin)).workers[0]!
  for (let i = 0; i < WAVES; i++) {
    const sockets = await wave(t, Number(new URL(gateway.url).port))
    // What the worker reports of itself comes with its heartbeats.
    await until(async () => (await metric(gateway.admin, 'gw_connections')) > 0)
    for (const socket of sockets) socket.destroy()
    await until(async () => (await metric(gateway.admin, 'gw_connections')) === 0)
  }
  assert.equal(await (await fetch(`${gateway.url}/a`)).text(), 'ok')
  assert.equal((await statusOf(gateway.admin)).workers[0]!.pid, pid)
  assert.match(gateway.logText(), /"event":"connections_lowered"/)
  assert.doesNotMatch(gateway.logText(), /EMFILE|worker\.crashed/)
})

/** Silent connections. */
async function wave(t: TestContext, port: number): Promise<readonly net.Socket[]> {
  const sockets = Array.from({ length: WAVE }, () => net.connect(port, '127.0.0.1').on('error', () => {}))
  t.after(() => sockets.forEach((socket) => void socket.destroy()))
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))),
  )
  return sockets
}

async function metric(admin: string, name: string): Promise<number> {
  // The connection may close in the moment of the request, because it was unused for long on a busy machine.
  const text = await fetch(`${admin}/metrics`).then(
    (response) => response.text(),
    () => '',
  )
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.split(' ')[1] ?? Number.NaN)
}
