import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cluster } from './cluster.mjs'

/**
 * Runs in separate namespaces: starts the cluster in the given folder, loads the image from it, and runs a command.
 * Folders of the host that the cluster would use are hidden behind empty ones.
 */
const [folder, programs, cgroup, command, ...args] = process.argv.slice(2)
for (const place of ['/run', '/var/log', '/var/lib/cni']) hide(place)
// The kubelet changes these for the whole machine.
for (const [name, value] of [
  ['vm/overcommit_memory', 1],
  ['vm/panic_on_oom', 0],
  ['kernel/panic', 10],
  ['kernel/panic_on_oops', 1],
])
  cover(`/proc/sys/${name}`, `${value}\n`)

const startMono = performance.now()
const cluster = new Cluster(programs, folder, cgroup)
await cluster.start()
cluster.importImage(join(folder, 'image.tar'))
console.log(`the cluster is ready after ${((performance.now() - startMono) / 1000).toFixed(1)} s`)
if (!cluster.hasMetrics) console.log('there is no metrics-server: the test of autoscaling is skipped')
const metrics = { SLUICE_CLUSTER_METRICS: cluster.hasMetrics ? '1' : '' }
const env = { ...process.env, ...metrics, KUBECONFIG: cluster.kubeconfig }
const child = spawn(command, args, { stdio: 'inherit', env })
child.once('error', ({ message }) => {
  console.error(message)
  process.exit(127)
})
child.once('exit', (code) => process.exit(code ?? 1))

function hide(place) {
  mkdirSync(place, { recursive: true })
  mount('-t', 'tmpfs', 'none', place)
}

function cover(file, text) {
  const own = join(folder, file.replaceAll('/', '_'))
  writeFileSync(own, text)
  mount('--bind', own, file)
}

function mount(...args) {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`mount ${args.join(' ')} failed: ${stderr}`)
}
