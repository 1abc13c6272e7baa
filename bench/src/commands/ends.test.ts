import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { closedPort, type GwProcess, scratch, spawnGw, until } from '@sluice/cli/testing'
import { commandOf, processesWith } from '../testing/processes.js'

/** A command of the real `gw bench` whose temporary folders are in a place of its own. */
function started(
  t: TestContext,
  ...args: readonly string[]
): { readonly gw: GwProcess; readonly temporary: string } {
  const temporary = scratch(t)
  const env = { TMPDIR: temporary }
  return { gw: spawnGw(t, ['bench', ...args], { env, cwd: scratch(t) }), temporary }
}

function isLoadGenerator(pid: number): boolean {
  return commandOf(pid).includes('autocannon-program')
}

const NOTHING = { processes: [], folders: [] }

function rest(temporary: string): object {
  return { processes: processesWith(`TMPDIR=${temporary}`), folders: readdirSync(temporary) }
}

for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGKILL'] as const) {
  test(`an origin that was started by hand leaves nothing behind at a ${signal}`, async (t) => {
    const { gw, temporary } = started(t, 'upstream', '--listen', `127.0.0.1:${await closedPort()}`)
    await until(() => gw.stdout().includes('origin on'), gw.stderr)
    assert.equal(readdirSync(temporary).length, 1)
    gw.process.kill(signal)
    assert.equal(await gw.exited, signal === 'SIGKILL' ? null : 0)
    await until(
      () => JSON.stringify(rest(temporary)) === JSON.stringify(NOTHING),
      () => JSON.stringify(rest(temporary)),
    )
  })
}

for (const [signal, second] of [
  ['SIGINT', 'SIGHUP'],
  ['SIGKILL', null],
] as const) {
  test(`a run that is stopped by ${second ?? signal} leaves neither processes nor folders`, {
    timeout: 120_000,
  }, async (t) => {
    const engine = ['--seconds', '60', '--warm-up', '0', '--repetitions', '1', '--no-rates']
    const { gw, temporary } = started(t, 'run', 'smoke', '--scenario', 'get', ...engine)
    // The origin and the gateway are there by then.
    await until(() => processesWith(`TMPDIR=${temporary}`).some(isLoadGenerator), gw.stderr)
    gw.process.kill(signal)
    if (second !== null) {
      await until(() => gw.stderr().includes('once more stops at once'), gw.stderr)
      gw.process.kill(second)
    }
    assert.equal(await gw.exited, second === null ? null : 1)
    await until(
      () => JSON.stringify(rest(temporary)) === JSON.stringify(NOTHING),
      () => JSON.stringify(rest(temporary)),
    )
  })
}
