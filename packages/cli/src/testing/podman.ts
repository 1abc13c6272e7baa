import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
/** Image stages with npm packages. */
const NPM_STAGES = ['dependencies', 'production']
/** Files that these stages depend on. */
const MANIFESTS = [
  'package.json',
  'package-lock.json',
  'deploy/image/Containerfile',
  'deploy/image/npm-ci.sh',
  'deploy/image/strip-files.sh',
]
/** Maximum age of layers of other stages. */
const MAX_LAYER_AGE = '1h'

/** A running podman command. */
export interface RunningCommand {
  /** Returns the output so far. */
  readonly text: () => string
  /** Exit code. */
  readonly ended: Promise<number | null>
}

/** Podman with a separate store that contains only images and containers of the tests. */
export class Podman {
  /** Base image. */
  readonly base: string
  readonly #folder: string
  readonly #options: readonly string[]

  /** @param folder with the base image and podman settings, see tools/image/make-base.sh */
  constructor(folder: string) {
    this.#folder = folder
    const store = join(dirname(folder), 'containers')
    this.#options = ['--root', join(store, 'root'), '--runroot', join(store, 'run')]
    this.base = `localhost/${basename(folder)}:1`
  }

  /** Runs podman and returns its stdout. @throws Error with its output if it fails */
  run(...args: readonly string[]): string {
    const { status, stdout, stderr } = this.try(...args)
    if (status !== 0) throw new Error(`podman ${args[0]} exited with ${status}: ${stderr || stdout}`)
    return stdout.trim()
  }

  /** Runs podman and returns the result, even if it fails. */
  try(...args: readonly string[]): SpawnSyncReturns<string> {
    const options = { cwd: ROOT, env: this.#env(), encoding: 'utf8' } as const
    return spawnSync('podman', [...this.#options, ...args], options)
  }

  /** Starts a podman command without waiting for it. */
  begin(...args: readonly string[]): RunningCommand {
    const child = spawn('podman', [...this.#options, ...args], { env: this.#env() })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
    }
    return { text: () => text, ended: new Promise((resolve) => child.once('close', resolve)) }
  }

  /** Builds the gateway image with the local npm settings. */
  build(tag: string): void {
    if (this.try('image', 'exists', this.base).status !== 0)
      this.run('import', join(this.#folder, 'base.tar'), this.base)
    const bases = ['BUILD_BASE', 'BASE'].flatMap((name) => ['--build-arg', `${name}=${this.base}`])
    const how = ['--pull=never', '--network=host', '--isolation=chroot', '--layers', '--format=docker']
    const options = [...how, ...secrets(), ...bases, '--file=deploy/image/Containerfile']
    for (const stage of NPM_STAGES) this.#keep(stage, options)
    this.run('build', ...options, `--tag=${tag}`, '.')
    // Keeps recent layers, which another build may be using.
    this.try('image', 'prune', '--force', '--filter', `until=${MAX_LAYER_AGE}`)
  }

  /** Tags the image of a stage, because untagged images are pruned. Images of other manifests lose their tag. */
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

/** Returns the build secrets: the npm configuration and the CA certificates. */
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
