import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathWith } from './programs.mjs'

/** Words with which npm and pnpm say that something is wrong with a package. */
const WARNING = /warn|EBADENGINE|unsupported|deprecated|ignored build/i
/** A warning of pnpm about `@opentelemetry/core`, whose dependents accept more versions than it does. npm chooses a fitting one. */
const TOLERATED = /Issues with peer dependencies found/
const MANAGERS = {
  npm: { add: ['install'], exec: ['npx', '--no', '--'] },
  pnpm: { add: ['add'], exec: ['pnpm', 'exec'] },
}

/** A folder of a user, with a package manager and a version of Node.js. */
export class Project {
  #folder
  #manager
  #env

  constructor(folder, { manager, node, registry }) {
    this.#folder = folder
    this.#manager = manager
    this.#env = { ...process.env, PATH: pathWith(node), NODE_OPTIONS: '' }
    mkdirSync(folder, { recursive: true })
    this.write('.npmrc', `@sluice:registry=${registry}\n`)
  }

  get folder() {
    return this.#folder
  }

  /** Returns a project in a folder of this one, with the same programs. */
  inside(name, registry) {
    const inner = new Project(join(this.#folder, name), { manager: this.#manager, node: 'node20', registry })
    inner.#env = this.#env
    return inner
  }

  write(file, text) {
    writeFileSync(join(this.#folder, file), text)
  }

  /** Installs packages. @throws Error if the package manager fails or warns */
  async install(...packages) {
    const command = packages.length === 0 ? ['install'] : MANAGERS[this.#manager].add
    const output = await this.run(this.#manager, ...command, ...packages)
    const warnings = output.split('\n').filter((line) => WARNING.test(line) && !TOLERATED.test(line))
    if (warnings.length > 0) throw new Error(`${this.#manager} warns:\n${output}`)
  }

  /** Runs a program of the project and returns its output. @throws Error if it fails */
  exec(...command) {
    return this.run(...MANAGERS[this.#manager].exec, ...command)
  }

  /** Runs a program and returns its output, stderr included. @throws Error if it fails */
  async run(program, ...args) {
    const { child, output } = this.#spawn(program, args)
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}:\n${output()}`)
    return output()
  }

  /** Starts a gateway as users do. Returns the address of its listener and a function that stops it. */
  async startGateway(document) {
    const [program, ...args] = [...MANAGERS[this.#manager].exec, 'gw', 'start', '-c', document]
    const { child, output } = this.#spawn(program, args)
    const ended = once(child, 'close')
    const url = await new Promise((resolve, reject) => {
      const look = () => {
        const [, address] = /listening on (\S+)/.exec(output()) ?? []
        if (address !== undefined && output().includes('admin API on')) resolve(address)
      }
      child.stdout.on('data', look)
      child.stderr.on('data', look)
      child.once('close', () => reject(new Error(`the gateway ended:\n${output()}`)))
    })
    const stop = async () => {
      process.kill(-child.pid, 'SIGTERM')
      await ended
    }
    return { url, stop }
  }

  /** Starts a program in a new process group, and collects its output. */
  #spawn(program, args) {
    const child = spawn(program, args, {
      cwd: this.#folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
    }
    return { child, output: () => text }
  }
}
