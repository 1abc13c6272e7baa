import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
/** The stages that take what npm installs, and are the same until the lock file changes. */
const LASTING = ['dependencies', 'production']
/** Layers of the other stages go after so long. */
const KEPT = '1h'

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

  /** Begins a command of podman that waits for something. Resolves with its exit code. */
  begin(...args: readonly string[]): Promise<number | null> {
    const child = spawn('podman', [...this.#options, ...args], { env: this.#env(), stdio: 'ignore' })
    return new Promise((resolve) => child.once('close', resolve))
  }

  /** Builds the image of this repository, with the settings that npm has here. */
  build(tag: string): void {
    if (this.try('image', 'exists', this.base).status !== 0)
      this.run('import', join(this.#folder, 'base.tar'), this.base)
    const bases = ['BUILD_BASE', 'BASE'].flatMap((name) => ['--build-arg', `${name}=${this.base}`])
    const how = ['--pull=never', '--network=host', '--isolation=chroot', '--layers', '--format=docker']
    const options = [...how, ...secrets(), ...bases, '--file=deploy/image/Containerfile']
    // An image with a name is not pruned.
    for (const stage of LASTING) {
      this.run('build', ...options, `--target=${stage}`, `--tag=localhost/sluice-${stage}:test`, '.')
    }
    this.run('build', ...options, `--tag=${tag}`, '.')
    this.run('image', 'prune', '--force', '--filter', `until=${KEPT}`)
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
