import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Environment variable that marks all processes started by a test run. */
export const RUN_VARIABLE = 'SLUICE_TEST_RUN'

/** Time in which processes may end by themselves, in milliseconds. */
const BY_ITSELF_MS = 5000
/** Time limit for killing processes, in milliseconds. */
const KILL_MS = 10_000
const LOOK_MS = 50

/**
 * Ends processes that test files have left behind. A killed file runs no hooks, and a gateway with a killed supervisor
 * serves for another minute. Returns the commands of processes that did not end by themselves. Needs /proc.
 *
 * @param run value of RUN_VARIABLE of the processes to end.
 */
export async function endLeftOvers(run, byItselfMs = BY_ITSELF_MS) {
  const waitUntilMono = performance.now() + byItselfMs
  let left = processesOf(run)
  while (left.length > 0 && performance.now() < waitUntilMono) {
    await sleep(LOOK_MS)
    left = processesOf(run)
  }
  const commands = left.map(({ command }) => command)
  // Repeated, because they may start others meanwhile.
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

/** Returns a file of /proc, or an empty string if the process has ended or belongs to another user. */
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
    // The process has ended.
  }
}
