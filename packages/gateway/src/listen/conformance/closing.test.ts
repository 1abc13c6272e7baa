import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testEngines } from '../testing/engines.js'

const CALLS = 40
const ROUTES = [
  { id: 'hello', action: { kind: 'respond' as const, status: 200, headers: [], body: 'hi' }, timeouts: null },
]

/** Connects and sends requests, announces it by a file, and reports how many were answered. */
const CALLER = `
  const net = require('node:net')
  const [, port, asked, calls] = process.argv
  let writes = 0, answers = 0, ends = 0
  for (let i = 0; i < calls; i++) {
    let text = ''
    const socket = net.connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', () => {
      if (++writes === Number(calls)) require('node:fs').writeFileSync(asked, '')
    })
    socket.on('data', (bytes) => { text += bytes })
    socket.on('error', () => {})
    socket.on('close', () => {
      if (text.startsWith('HTTP/1.1 200 ')) answers++
      if (++ends === Number(calls)) console.log(answers)
    })
  }
`

testEngines(
  'requests on connections that wait to be accepted when a listener closes are answered',
  async (t, start) => {
    const dir = mkdtempSync(join(tmpdir(), 'sluice-closing-'))
    t.after(() => rmSync(dir, { recursive: true }))
    const gateway = await start(t, { routes: ROUTES })
    const asked = join(dir, 'asked')
    const caller = spawn(process.execPath, ['-e', CALLER, String(gateway.port), asked, String(CALLS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => caller.kill())
    let answers = ''
    caller.stdout.on('data', (text) => {
      answers += text
    })
    const closed = new Promise((resolve) => caller.once('close', resolve))
    standStill(() => existsSync(asked))
    await gateway.plane.drain(5000)
    await closed
    assert.equal(answers, `${CALLS}\n`)
  },
)

/** Blocks this thread, which would otherwise accept the connections. */
function standStill(isOver: () => boolean): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4))
  const giveUpMono = performance.now() + 30_000
  while (!isOver()) {
    assert.ok(performance.now() < giveUpMono, 'nobody has asked within 30 s')
    Atomics.wait(nobody, 0, 0, 5)
  }
}
