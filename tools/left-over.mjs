import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** In the environment of everything that a run of the tests starts, by which it is known. */
export const RUN_VARIABLE = 'SLUICE_TEST_RUN'

/** What ends by itself does so within this time. */
const BY_ITSELF_MS = 5000
/** One that the kernel holds is not waited for. */
const KILL_MS = 10_000
const LOOK_MS = 50

/**
 * Ends what test files have left behind: a file that is killed runs none of its hooks, and a gateway whose supervisor is
 * killed serves on for a minute; what runs then is busy beside it. Returns the commands of those that did not end by
 * themselves. Where there is no /proc nothing is found.
 *
 * @param run the value of RUN_VARIABLE of those that are meant.
 */
export async function endLeftOvers(run, byItselfMs = BY_ITSELF_MS) {
  const waitUntilMono = performance.now() + byItselfMs
  let left = processesOf(run)
  while (left.length > 0 && performance.now() < waitUntilMono) {
    await sleep(LOOK_MS)
    left = processesOf(run)
  }
  const commands = left.map(({ command }) => command)
  // Again and again: they may start others meanwhile.
  const killUntilMono = performance.now() + KILL_MS
  for (; left.length > 0 && performance.now() < killUntilMono; left = processesOf(run)) {
    for (const { pid } of left) kill(pid)
    await sleep(LOOK_MS)
  }
  return commands
}

function processesOf(run) {
  return pids().flatMap((pid) => {
    const names = read(pid, 'environ').split('\0')
    if (!names.includes(`${RUN_VARIABLE}=${run}`)) return []
    return [{ pid, command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }]
  })
}

function pids() {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** Empty of a process that is gone or a zombie, and of another user's. */
function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}
