import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
/** The stages that take what npm installs. */
const LASTING = ['dependencies', 'production']
/** What they depend on. */
const MANIFESTS = [
  'package.json',
  'package-lock.json',
  'deploy/image/Containerfile',
  'deploy/image/npm-ci.sh',
  'deploy/image/strip-files.sh',
]
/** Layers of the other stages go after so long. */
const KEPT = '1h'

/** A command of podman that goes on. */
export interface Begun {
  /** What it has printed so far. */
  readonly text: () => string
  /** Its exit code. */
  readonly ended: Promise<number | null>
}

/** Podman with a store of its own, so that it meets no images and containers but those of the tests. */
export class Podman {
  /** What the image is built on. */
  readonly base: string
  readonly #folder: string
  readonly #options: readonly string[]

  /** @param folder with the base and the settings of podman, see tools/image/make-base.sh. */
  constructor(folder: string) {
    this.#folder = folder
    const store = join(dirname(folder), 'containers')
    this.#options = ['--root', join(store, 'root'), '--runroot', join(store, 'run')]
    this.base = `localhost/${basename(folder)}:1`
  }

  /** What a command of podman prints on stdout. @throws Error with what it said when it fails. */
  run(...args: readonly string[]): string {
    const { status, stdout, stderr } = this.try(...args)
    if (status !== 0) throw new Error(`podman ${args[0]} ended with ${status}: ${stderr || stdout}`)
    return stdout.trim()
  }

  /** A command of podman that may fail. */
  try(...args: readonly string[]): SpawnSyncReturns<string> {
    const options = { cwd: ROOT, env: this.#env(), encoding: 'utf8' } as const
    return spawnSync('podman', [...this.#options, ...args], options)
  }

  /** Begins a command of podman that waits for something. */
  begin(...args: readonly string[]): Begun {
    const child = spawn('podman', [...this.#options, ...args], { env: this.#env() })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
    }
    return { text: () => text, ended: new Promise((resolve) => child.once('close', resolve)) }
  }

  /** Builds the image of this repository, with the settings that npm has here. */
  build(tag: string): void {
    if (this.try('image', 'exists', this.base).status !== 0)
      this.run('import', join(this.#folder, 'base.tar'), this.base)
    const bases = ['BUILD_BASE', 'BASE'].flatMap((name) => ['--build-arg', `${name}=${this.base}`])
    const how = ['--pull=never', '--network=host', '--isolation=chroot', '--layers', '--format=docker']
    const options = [...how, ...secrets(), ...bases, '--file=deploy/image/Containerfile']
    for (const stage of LASTING) this.#keep(stage, options)
    this.run('build', ...options, `--tag=${tag}`, '.')
    // What another build uses stays.
    this.try('image', 'prune', '--force', '--filter', `until=${KEPT}`)
  }

  /** Gives the image of a stage a name, because those without are pruned. That of other manifests loses it. */
  #keep(stage: string, options: readonly string[]): void {
    const repository = `localhost/sluice-${stage}`
    const tag = `${repository}:${manifestDigest()}`
    if (this.try('image', 'exists', tag).status === 0) return
    const before = this.run('images', '--format={{.Repository}}:{{.Tag}}', `--filter=reference=${repository}`)
    this.run('build', ...options, `--target=${stage}`, `--tag=${tag}`, '.')
    for (const name of before.split('\n').filter(Boolean)) this.try('untag', name)
  }

  #env(): NodeJS.ProcessEnv {
    return { ...process.env, CONTAINERS_CONF: join(this.#folder, 'containers.conf') }
  }
}

/** Where npm finds its packages on this machine, and whom it trusts. */
function secrets(): string[] {
  const npmrc = spawnSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).stdout.trim()
  const files = { npmrc, ca: process.env['NODE_EXTRA_CA_CERTS'] ?? '' }
  return Object.entries(files)
    .filter(([, file]) => existsSync(file))
    .map(([id, file]) => `--secret=id=${id},src=${file}`)
}

function manifestDigest(): string {
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => join('packages', name, 'package.json'))
  const hash = createHash('sha256')
  for (const file of [...MANIFESTS, ...packages]) hash.update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 12)
}
