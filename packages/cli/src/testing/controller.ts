import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type GwProcess, type Outcome, scratch, spawnGw, until } from '../testing.js'
import { gwInProcess } from './in-process.js'

/** A running `gw control start`. */
export interface RunningController {
  readonly url: string
  readonly adminToken: string
  readonly store: string
  readonly process: GwProcess
  /** Runs `gw` as a client of the controller, by default as admin. */
  run(args: readonly string[], options?: { readonly token?: string; readonly cwd?: string }): Promise<Outcome>
}

/** Starts a controller with an embedded store. */
export async function startController(
  t: TestContext,
  ...more: readonly string[]
): Promise<RunningController> {
  const store = join(scratch(t), 'control')
  const args = ['control', 'start', '--store', store, '--listen', '127.0.0.1:0', ...more]
  const running = spawnGw(t, args)
  await until(() => /^controller on \S+$/m.test(running.stdout()), running.stderr)
  const url = /^controller on (\S+)$/m.exec(running.stdout())![1]!
  const adminToken = readFileSync(join(store, 'admin-token'), 'utf8').trim()
  const run: RunningController['run'] = (given, { token = adminToken, cwd } = {}) =>
    gwInProcess(given, {
      env: { GW_CONTROL_SERVER: url, GW_TOKEN: token },
      ...(cwd === undefined ? {} : { cwd }),
    })
  return { url, adminToken, store, process: running, run }
}
