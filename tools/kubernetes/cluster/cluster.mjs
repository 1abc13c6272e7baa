import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { API, makeCredentials } from './credentials.mjs'
import { apiServerArguments, CONTAINERD, cniConfig, containerdConfig, kubeletConfig } from './settings.mjs'

const ETCD = 'http://127.0.0.1:2379'
const READY_MS = 120_000
const SMALL_NODE = fileURLToPath(new URL('small-node.yaml', import.meta.url))

/**
 * A Kubernetes cluster of one node in the network, mount and process namespaces of this process. It ends with these
 * namespaces, so they must be separate ones.
 */
export class Cluster {
  #programs
  #folder
  #cgroup

  /** @param programs folder with the programs of Kubernetes. @param folder an empty folder. @param cgroup parent of the pods. */
  constructor(programs, folder, cgroup) {
    this.#programs = programs
    this.#folder = folder
    this.#cgroup = cgroup
  }

  /** True if metrics-server is installed. It is fetched separately and may be unavailable. */
  get hasMetrics() {
    return existsSync(join(this.#programs, 'metrics-server'))
  }

  get kubeconfig() {
    return join(this.#folder, 'admin.kubeconfig')
  }

  /** Starts everything. Resolves when the node is ready. */
  async start() {
    this.#makeNetwork()
    const folder = this.#folder
    makeCredentials(folder)
    for (const name of ['cni', 'logs']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, 'cni', '10-pods.conflist'), cniConfig(folder))
    writeFileSync(join(folder, 'containerd.toml'), containerdConfig(folder))
    writeFileSync(join(folder, 'kubelet.json'), kubeletConfig(folder, this.#cgroup))
    this.#begin('containerd', 'containerd', '-c', join(folder, 'containerd.toml'))
    const peer = 'http://127.0.0.1:2380'
    const etcd = ['--listen-client-urls', ETCD, '--advertise-client-urls', ETCD, '--listen-peer-urls', peer]
    this.#begin('etcd', 'etcd', '--name=t', `--data-dir=${join(folder, 'etcd')}`, ...etcd)
    this.#beginOwn('kube-apiserver', ...apiServerArguments(folder, ETCD))
    await until('the API server', () => this.#ask('get', '--raw', '/readyz') === 'ok')
    run('kubectl', '--kubeconfig', this.kubeconfig, 'apply', '-f', SMALL_NODE)
    this.#beginManagers()
    await until('containerd', () => this.#ctr('version').status === 0)
    this.#importProgram('pause')
    if (this.hasMetrics) this.#importProgram('metrics-server')
    this.#beginNode()
    await until('the node', () => this.#ask('get', 'nodes').includes(' Ready'))
  }

  /** Loads an image from a file of `podman save`. */
  importImage(file) {
    const { status, stderr } = this.#ctr('images', 'import', file)
    if (status !== 0) throw new Error(`the image cannot be imported: ${stderr}`)
  }

  #makeNetwork() {
    // A bridge replaces the network card: some kernels have no dummy device.
    run('ip', 'link', 'set', 'lo', 'up')
    run('ip', 'link', 'add', 'node0', 'type', 'bridge')
    run('ip', 'addr', 'add', `${API.address}/24`, 'dev', 'node0')
    run('ip', 'link', 'set', 'node0', 'up')
    run('ip', 'route', 'add', 'default', 'dev', 'node0')
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
  }

  #beginManagers() {
    const folder = this.#folder
    this.#beginOwn(
      'kube-controller-manager',
      `--kubeconfig=${folder}/manager.kubeconfig`,
      '--use-service-account-credentials',
      `--service-account-private-key-file=${folder}/accounts.key`,
      `--root-ca-file=${folder}/ca.crt`,
      '--bind-address=127.0.0.1',
      '--leader-elect=false',
      '--allocate-node-cidrs=false',
      // Pods are added and removed within the time of a test.
      '--horizontal-pod-autoscaler-downscale-stabilization=30s',
      '--horizontal-pod-autoscaler-initial-readiness-delay=5s',
      '--horizontal-pod-autoscaler-cpu-initialization-period=20s',
    )
    const scheduler = [
      `--kubeconfig=${folder}/scheduler.kubeconfig`,
      '--bind-address=127.0.0.1',
      '--leader-elect=false',
    ]
    this.#beginOwn('kube-scheduler', ...scheduler)
  }

  #beginNode() {
    const folder = this.#folder
    this.#beginOwn(
      'kubelet',
      `--kubeconfig=${folder}/kubelet.kubeconfig`,
      `--config=${folder}/kubelet.json`,
      '--hostname-override=n1',
      `--node-ip=${API.address}`,
      `--root-dir=${folder}/kubelet`,
      `--cert-dir=${folder}/kubelet-certificates`,
    )
    this.#beginOwn(
      'kube-proxy',
      `--kubeconfig=${folder}/proxy.kubeconfig`,
      '--proxy-mode=iptables',
      '--cluster-cidr=10.244.0.0/24',
      '--hostname-override=n1',
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-established=0',
      '--conntrack-tcp-timeout-close-wait=0',
    )
  }

  /** Creates an image of one static program and loads it. */
  #importProgram(name) {
    const folder = join(this.#folder, name)
    mkdirSync(folder)
    this.importImage(makeImage(join(this.#programs, name), `localhost/${name}:1`, folder))
  }

  #ask(...args) {
    return spawnSync('kubectl', ['--kubeconfig', this.kubeconfig, ...args], { encoding: 'utf8' }).stdout
  }

  #ctr(...args) {
    const own = ['-a', join(CONTAINERD, 'containerd.sock'), '-n', 'k8s.io']
    return spawnSync('ctr', [...own, ...args], { encoding: 'utf8' })
  }

  #beginOwn(name, ...args) {
    this.#begin(name, join(this.#programs, name), ...args)
  }

  #begin(name, program, ...args) {
    const log = openSync(join(this.#folder, 'logs', `${name}.log`), 'w')
    const child = spawn(program, args, { stdio: ['ignore', log, log] })
    child.on('error', (error) => writeFileSync(log, `${error.message}\n`))
  }
}

async function until(what, condition) {
  const endMono = performance.now() + READY_MS
  while (!(await condition())) {
    if (performance.now() > endMono) throw new Error(`${what} is not ready after ${READY_MS / 1000} s`)
    await sleep(100)
  }
}

/** Writes an image with one program at `/`, in the format of `docker save`. */
function makeImage(program, name, folder) {
  const layer = join(folder, 'layer.tar')
  run('tar', '-C', dirname(program), '-cf', layer, basename(program))
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Entrypoint: [`/${basename(program)}`], User: '65535:65535' },
    rootfs: {
      type: 'layers',
      diff_ids: [`sha256:${createHash('sha256').update(readFileSync(layer)).digest('hex')}`],
    },
  }
  const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  const file = join(folder, 'image.tar')
  run('tar', '-C', folder, '-cf', file, 'config.json', 'manifest.json', 'layer.tar')
  return file
}

function run(program, ...args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
}
