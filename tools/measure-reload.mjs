#!/usr/bin/env node
// Measures reloads of a gateway with many routes, of which one changes: node tools/measure-reload.mjs [routes] [reloads]
// A client sends 250 requests per second to a listener of each engine, one at a time on a kept connection. Their
// latencies count from the time at which they were due.
import { fork, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const EVERY_MS = 4
const REQUEST = 'GET /r0 HTTP/1.1\r\nhost: a\r\n\r\n'

if (process.send === undefined) await measure(Number(process.argv[2] ?? 60_000), Number(process.argv[3] ?? 5))
else sendRequests(process.argv.slice(2).map(Number))

async function measure(routeCount, reloadCount) {
  const origin = createServer((_, res) => res.end('ok')).listen(0, '127.0.0.1')
  origin.keepAliveTimeout = 0
  const [uws, node, admin] = await Promise.all([freePort(), freePort(), freePort()])
  const dir = mkdtempSync(join(tmpdir(), 'reload-'))
  const file = join(dir, 'gateway.yaml')
  const text = (changed) => `version: 1
listeners:
  - { address: "127.0.0.1:${uws}", engine: uws, health: true }
  - { address: "127.0.0.1:${node}", engine: node }
admin: { address: "127.0.0.1:${admin}" }
workers: 1
log: { sink: none }
upstreams: { u: { targets: ["http://127.0.0.1:${origin.address().port}"] } }
routes:
${Array.from({ length: routeCount }, (_, i) => `  - { id: r${i}, match: { path: /r${i}${i === changed ? '/changed' : ''} }, upstream: u }\n`).join('')}`
  writeFileSync(file, text(-1))
  const program = fileURLToPath(new URL('../packages/cli/bin/gw.mjs', import.meta.url))
  const gateway = spawn(process.execPath, [program, 'start', '-c', file, '--data-dir', dir], {
    stdio: 'ignore',
  })
  const api = (path, options) => fetch(`http://127.0.0.1:${admin}${path}`, options)
  while (
    !(await fetch(`http://127.0.0.1:${uws}/-/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(100)
  const client = fork(fileURLToPath(import.meta.url), [uws, node])
  const longest = () => new Promise((resolve) => client.once('message', resolve).send(''))
  await sleep(3000)
  for (let i = 1; i <= reloadCount; i++) {
    const [before] = [await delays(api), await longest()]
    const startMono = performance.now()
    const { ok } = await api('/v1/config', {
      method: 'PUT',
      body: text(i),
      headers: { 'content-type': 'application/yaml' },
    })
    const seconds = (performance.now() - startMono) / 1000
    await sleep(1000)
    const [after, [uwsMs, nodeMs]] = [await delays(api), await longest()]
    const { workers } = await (await api('/v1/status')).json()
    const peakKb = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${workers[0].pid}/status`, 'utf8'))[1]
    console.log(
      `${ok ? 'reloaded' : 'refused'} in ${seconds.toFixed(1)} s; pauses over 20 ms: ${after - before}; longest latency: ${uwsMs.toFixed(1)} ms (uws), ${nodeMs.toFixed(1)} ms (node); peak memory of the worker: ${Math.round(peakKb / 1024)} MB`,
    )
  }
  client.kill()
  gateway.kill()
  origin.close()
  origin.closeAllConnections()
  gateway.once('exit', () => rmSync(dir, { recursive: true, force: true }))
}

/** Returns the number of event loop delays over 20 ms that the worker has counted. */
async function delays(api) {
  const text = await (await api('/metrics')).text()
  const of = (suffix) =>
    Number(new RegExp(`^gw_worker_loop_delay_seconds_${suffix} (\\d+)`, 'm').exec(text)[1])
  return of('count\\{[^}]*\\}') - of('bucket\\{[^}]*le="0.02"\\}')
}

function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  return new Promise((resolve) => {
    server.once('listening', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Sends requests until the process ends. Answers each message with the longest latencies since the last one. */
function sendRequests(ports) {
  const longestMs = ports.map(() => 0)
  ports.forEach((port, i) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    let [dueMono, isUnderWay] = [performance.now(), false]
    setInterval(() => {
      if (isUnderWay || performance.now() < dueMono) return
      isUnderWay = true
      socket.write(REQUEST)
    }, 1)
    socket.on('data', () => {
      longestMs[i] = Math.max(longestMs[i], performance.now() - dueMono)
      dueMono += EVERY_MS
      isUnderWay = false
      if (performance.now() >= dueMono) {
        isUnderWay = true
        socket.write(REQUEST)
      }
    })
  })
  process.on('message', () => {
    process.send([...longestMs])
    longestMs.fill(0)
  })
}
