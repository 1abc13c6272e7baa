import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startEcho } from '../examples/quickstart/echo.mjs'
import { curlLine, demoCalls } from './demo-calls.mjs'

/**
 * The demo behind `npm start`: an echo upstream and the gateway with examples/quickstart/gateway.yaml, until Ctrl-C.
 * PORT sets another port for the listener. The arguments are a document and a data folder.
 */
const READY_WITHIN_MS = 30_000
const STOPPED_WITHIN_MS = 40_000
const root = fileURLToPath(new URL('..', import.meta.url))
const gw = join('packages', 'cli', 'bin', 'gw.mjs')
const document = process.argv[2] ?? 'examples/quickstart/gateway.yaml'
const dataFolder = process.argv[3] ?? 'data'
const operationLog = join(dataFolder, 'gateway.log')

process.chdir(root)
requirePort()
const addresses = demoAddresses()
for (const place of Object.values(addresses)) await requireFree(place)
let isAnnounced = false
const echo = await startEcho(addresses.echo.port)
const gateway = startGateway()
const stopped = stopSignal()

const start = await Promise.race([readiness(), stopped, gateway.exited])
if (start === 'ready') {
  announce()
  await Promise.race([stopped, gateway.exited])
}
process.exit(await stop(start))

/** Checks the port from the environment. `gw render` checks the ports of the document. */
function requirePort() {
  const { PORT } = process.env
  if (PORT === undefined || (/^\d{1,5}$/.test(PORT) && Number(PORT) >= 1 && Number(PORT) <= 65_535)) return
  fail(`PORT='${PORT}' is not a port; write for example PORT=8081 npm start`)
}

/** Returns the addresses of the demo. They come from the document, so edit them there. */
function demoAddresses() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [gw, 'render', '-c', document])
  if (status !== 0) fail(String(stderr) || `${document} cannot be read`, status ?? 1)
  const plan = JSON.parse(String(stdout))
  const listener = plan.listeners[0]
  const target = new URL(plan.upstreams.find((upstream) => upstream.name === 'echo').targets[0].url)
  return {
    gateway: {
      host: listener.host,
      port: process.env.PORT === undefined ? listener.port : Number(process.env.PORT),
      remedy: `choose another with PORT=8081 npm start, or edit listeners in ${document}`,
    },
    admin: { host: plan.admin.host, port: plan.admin.port, remedy: `edit admin.address in ${document}` },
    echo: {
      host: target.hostname,
      port: Number(target.port),
      remedy: `edit upstreams.echo.targets in ${document}; the echo upstream follows it`,
    },
  }
}

/** Fails if a port is in use, before anything starts. */
async function requireFree({ host, port, remedy }) {
  const isFree = await new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
  if (!isFree)
    fail(`port ${port} on ${host} cannot be listened on, probably taken; stop what uses it, or ${remedy}`)
}

/**
 * Starts the gateway in a separate process group: Ctrl-C reaches the whole group, and the gateway must get one SIGINT
 * only, to drain. Its operation log goes to a file.
 */
function startGateway() {
  mkdirSync(dataFolder, { recursive: true })
  const log = openSync(operationLog, 'w')
  const { host, port } = addresses.gateway
  const child = spawn(
    process.execPath,
    [gw, 'start', '-c', document, '--listen', `${host}:${port}`, '--data-dir', dataFolder],
    { detached: true, stdio: ['ignore', log, 'pipe'] },
  )
  createInterface({ input: child.stderr }).on('line', (line) => {
    writeSync(log, `${line}\n`)
    reportDocument(line)
  })
  const exited = new Promise((resolve) => {
    child.once('error', () => resolve('exited'))
    child.once('exit', () => resolve('exited'))
  })
  return { child, exited }
}

/** Prints the result of an edited document. Everything else is in the operation log. */
function reportDocument(line) {
  const { event, actor, origin, after, errors, diagnostics = [], reasons = [], message } = entryOf(line)
  if (!isAnnounced || actor === 'start' || origin === 'api') return
  if (event === 'config.applied' || event === 'config.unchanged')
    console.log(`\n${document} was reloaded and is active (${after.slice(0, 12)})`)
  if (event === 'config.invalid') {
    console.log(
      `\n${document} was rejected with ${errors} error${errors === 1 ? '' : 's'}; the previous document stays active`,
    )
    for (const error of diagnostics.slice(0, 5)) console.log(`  ${error}`)
  }
  if (event === 'config.rolled-back') {
    console.log(`\n${document} was rejected; the previous document stays active`)
    for (const { reason } of reasons.slice(0, 5)) console.log(`  ${reason}`)
  }
  if (event === 'reload.failed') console.log(`\n${document} could not be read: ${message}`)
}

/** Returns the entry of a log line. Crash messages of Node.js are not JSON. */
function entryOf(line) {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}

function stopSignal() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve('stopped'))
  })
}

async function readiness() {
  const deadline = Date.now() + READY_WITHIN_MS
  while (Date.now() < deadline) {
    if (await isReady()) return 'ready'
    await wait(50)
  }
  return 'late'
}

async function isReady() {
  try {
    const answer = await fetch(`${origin(addresses.gateway)}/-/readyz`)
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

function announce() {
  isAnnounced = true
  console.log(`
Sluice is running, with ${document}
  gateway        ${origin(addresses.gateway)}
  admin          ${origin(addresses.admin)}
  echo upstream  ${origin(addresses.echo)}
  traffic log    data/traffic      operation log  ${operationLog}

Three calls to try:`)
  for (const call of demoCalls)
    console.log(`\n  ${curlLine(call, origin(addresses.gateway))}\n      ${call.expect}`)
  console.log('\nCtrl-C stops everything.')
}

/** Stops the demo and returns the exit code: 1 if the gateway did not start, or stopped by itself. */
async function stop(start) {
  const { child, exited } = gateway
  const isAlone = child.exitCode !== null || child.signalCode !== null
  if (!isAlone) {
    child.kill('SIGINT')
    const tooLate = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS)
    await exited
    clearTimeout(tooLate)
  }
  echo.close()
  echo.closeAllConnections()
  if (!isAlone && start !== 'late') return child.exitCode ?? 1
  console.error(
    `the gateway ${start === 'ready' ? 'stopped by itself' : 'did not start'}; ${operationLog} ends with`,
  )
  console.error(readFileSync(operationLog, 'utf8').slice(-4000))
  return 1
}

function origin({ host, port }) {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function fail(message, code = 1) {
  console.error(message.trimEnd())
  process.exit(code)
}
