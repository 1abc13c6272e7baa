import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerDiagnostics } from '../model/summary.js'
import { isRunning, systemText } from '../process/process-use.js'
import { gatewayWorkers, type RunningGateway } from '../servers/gateway.js'
import { PROBE_DIR_ENV } from '../servers/gc-probe.js'

const PROBE = new URL('../servers/gc-probe.js', import.meta.url)
const ANSWER_MS = 10_000

/** Returns environment variables that load the probe into the processes of a gateway. */
export function probeEnv(dir: string): Record<string, string> {
  const folder = join(dir, 'gc')
  mkdirSync(folder, { recursive: true })
  const own = process.env['NODE_OPTIONS'] ?? ''
  return { NODE_OPTIONS: `${own} --import=${PROBE}`.trim(), [PROBE_DIR_ENV]: folder }
}

/**
 * Collects all garbage of the workers of a gateway now. Returns their pauses since the last call, and their memory
 * afterwards, by worker.
 */
export async function collectGarbage({ admin, probeDir }: Pick<RunningGateway, 'admin' | 'probeDir'>) {
  const workers = probeDir === undefined ? [] : await gatewayWorkers(admin).catch(() => [])
  const figures = new Map<number, Partial<WorkerDiagnostics>>()
  for (const { id, pid } of workers) figures.set(id, await figuresOf(probeDir!, pid))
  return figures
}

async function figuresOf(dir: string, pid: number): Promise<Partial<WorkerDiagnostics>> {
  // Without the probe the signal would not be harmless.
  if (systemText(join(dir, `${pid}.ready`)) === null) return {}
  const file = join(dir, `${pid}.json`)
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  const giveUpMono = performance.now() + ANSWER_MS
  while (isRunning(pid) && performance.now() < giveUpMono) {
    const text = systemText(file)
    if (text !== null) return JSON.parse(text) as Partial<WorkerDiagnostics>
    await sleep(10)
  }
  return {}
}
