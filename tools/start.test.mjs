import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { curlLine, demoCalls } from './demo-calls.mjs'

const START_MS = 60_000
const root = fileURLToPath(new URL('..', import.meta.url))

test('the demo suggests three calls that respond as described, and SIGTERM stops it with exit code 0', async (t) => {
  const place = await demoPlace(t)
  const demo = startDemo(t, place)
  const text = await printed(demo, 'Ctrl-C stops everything')
  for (const call of demoCalls) {
    assert.ok(text.includes(curlLine(call, place.origin)), text)
    const { method, headers } = call
    const answer = await fetch(place.origin + call.path, { method, headers })
    assert.equal(answer.status, call.status, call.path)
    await answer.body?.cancel()
  }
  const denied = await fetch(`${place.origin}/partners/report`)
  assert.equal(denied.status, 401)
  await denied.body?.cancel()
  const orders = await (await fetch(`${place.origin}/orders/42?verbose=1`)).json()
  assert.equal(orders.url, '/v2/orders/42?verbose=1')
  assert.equal(orders.headers['x-gateway'], 'sluice')
  demo.kill('SIGTERM')
  const [code] = await once(demo, 'exit')
  assert.equal(code, 0)
  await assert.rejects(fetch(place.origin))
})

test('the demo reports the result of each edit of its document, and only of edits', async (t) => {
  const place = await demoPlace(t)
  const demo = startDemo(t, place)
  await printed(demo, 'Ctrl-C stops everything')
  const text = readFileSync(place.document, 'utf8')
  writeFileSync(place.document, text.replace('bodyBytes:', 'bodyBites:'))
  const refused = await printed(demo, "did you mean 'bodyBytes'?")
  assert.match(refused, /was rejected with 1 error; the previous document stays active/)
  assert.doesNotMatch(refused, /reloaded/)
  writeFileSync(place.document, text)
  await printed(demo, 'was reloaded and is active')
})

test('a port in use is reported with the fix, and nothing starts', async (t) => {
  const place = await demoPlace(t)
  const squatter = createServer().listen(place.ports.echo, '127.0.0.1')
  t.after(() => squatter.close())
  await once(squatter, 'listening')
  const demo = startDemo(t, place)
  const [text, [code]] = await Promise.all([errorsOf(demo), once(demo, 'exit')])
  assert.equal(code, 1)
  assert.match(
    text,
    new RegExp(`port ${place.ports.echo} .* taken; stop what uses it, or edit upstreams.echo`),
  )
})

test('an invalid PORT is reported', async (t) => {
  const place = await demoPlace(t)
  const demo = startDemo(t, { ...place, env: { PORT: 'http' } })
  const [text, [code]] = await Promise.all([errorsOf(demo), once(demo, 'exit')])
  assert.deepEqual([text, code], ["PORT='http' is not a port; write for example PORT=8081 npm start\n", 1])
})

/** Creates the quickstart document on free ports, with a separate log folder. */
async function demoPlace(t) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [gateway, admin, echo] = await freePorts(3)
  const ports = { gateway, admin, echo }
  const text = readFileSync(join(root, 'examples', 'quickstart', 'gateway.yaml'), 'utf8')
    .replace('127.0.0.1:8080\n', `127.0.0.1:${gateway}\n`)
    .replace('127.0.0.1:9901\n', `127.0.0.1:${admin}\n`)
    .replace('http://127.0.0.1:9000\n', `http://127.0.0.1:${echo}\n`)
    .replace('file: { maxBytes', `file: { dir: ${join(folder, 'traffic')}, maxBytes`)
  const document = join(folder, 'gateway.yaml')
  writeFileSync(document, text)
  return { document, folder, ports, origin: `http://127.0.0.1:${gateway}` }
}

function startDemo(t, { document, folder, env = {} }) {
  const args = [join(root, 'tools', 'start.mjs'), document, join(folder, 'data')]
  const demo = spawn(process.execPath, args, { env: { ...process.env, ...env } })
  t.after(async () => {
    if (demo.exitCode !== null || demo.signalCode !== null) return
    demo.kill('SIGTERM')
    await once(demo, 'exit')
  })
  return demo
}

/** Waits for a text in the output and returns all output up to it. */
async function printed(demo, wanted) {
  const errors = errorsOf(demo)
  const tooLate = setTimeout(() => demo.kill('SIGTERM'), START_MS)
  let text = ''
  for await (const part of demo.stdout.iterator({ destroyOnReturn: false })) {
    text += part
    if (!text.includes(wanted)) continue
    clearTimeout(tooLate)
    return text
  }
  clearTimeout(tooLate)
  throw new Error(`the demo ended early: ${text}${await errors}`)
}

async function errorsOf(demo) {
  let text = ''
  for await (const part of demo.stderr) text += part
  return text
}

/** Returns distinct free ports. All sockets stay open until every port is known. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => server.address().port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
