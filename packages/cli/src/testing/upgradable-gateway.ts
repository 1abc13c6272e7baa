import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gw, type Outcome, scratch, spawnGw, until } from '../testing.js'

const GW = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))

/** A running gateway, started through a link that a test can point to another program. */
export interface UpgradableGateway {
  readonly url: string
  readonly admin: string
  readonly metrics: string
  readonly config: string
  /** Folder of the traffic log. */
  readonly logDir: string
  /** Process id of the first process, which never changes. */
  readonly pid: number
  readonly exited: Promise<number | null>
  log(): string
  /** Process id of the supervisor that serves. */
  supervisor(): Promise<number>
  /** Installs a program as the next version. It may refer to the real one as `GW`. */
  install(program: string): void
  /** Runs `gw upgrade`. */
  upgrade(): Promise<Outcome>
  /** Waits until this many replaced or failed supervisors have exited. */
  ended(count: number): Promise<void>
  stop(): void
}

/** Returns the document of a gateway with the ports 0, and these lines. */
export function upgradeDocument(listener: string, more: string): string {
  return `version: 1
listeners: [{ address: 127.0.0.1:0, health: true, ${listener} }]
admin: { address: 127.0.0.1:0 }
metrics: { address: 127.0.0.1:0 }
drain: { timeout: 5m }
workers: 2
${more}`
}

/** Starts a gateway whose program is a link. It is killed after the test. */
export async function startUpgradable(t: TestContext, document: string): Promise<UpgradableGateway> {
  const dir = scratch(t)
  const [config, dataDir, entry] = ['gateway.yaml', 'data', 'gw.mjs'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(config, `${document}\nlog: { sink: file, file: { dir: ${join(dir, 'traffic')} } }\n`)
  mkdirSync(dataDir)
  symlinkSync(GW, entry)
  const env = { SECRET: 'known' }
  const running = spawnGw(t, ['start', '-c', config, '--data-dir', dataDir], { entry, env })
  const address = (pattern: RegExp): string => pattern.exec(running.stdout())?.[1] ?? ''
  await until(
    () => running.stdout().includes('metrics on') || running.process.exitCode !== null,
    running.stderr,
  )
  const admin = address(/admin API on (\S+)/)
  let installed = 0
  return {
    url: address(/listening on (\S+)/),
    admin,
    metrics: address(/metrics on (\S+)/),
    config,
    logDir: join(dir, 'traffic'),
    pid: running.process.pid!,
    exited: running.exited,
    log: running.stderr,
    async supervisor() {
      return ((await (await fetch(`${admin}/v1/status`)).json()) as { readonly pid: number }).pid
    },
    install(program) {
      const file = join(dir, `version-${++installed}.mjs`)
      writeFileSync(file, program.replace('GW', JSON.stringify(GW)))
      symlinkSync(file, `${entry}.next`)
      renameSync(`${entry}.next`, entry)
    },
    upgrade: () => gw(['upgrade', '--server', admin], { timeout: 200_000 }),
    ended: (count) => until(() => running.stderr().split('"upgrade.ended"').length > count, running.stderr),
    stop: () => void running.process.kill('SIGTERM'),
  }
}
