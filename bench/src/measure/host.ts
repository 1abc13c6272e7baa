import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HostFacts } from '../model/summary.js'
import { allowedCpus } from '../process/cores.js'
import { coreTimes } from '../process/process-use.js'
import { gatewayVersion } from '../servers/gateway.js'
import { machineFindings } from './doctor.js'

/** Maximum CPU share of other programs on a quiet machine. */
export const QUIET_SHARE = 0.05
const LOOK_MS = 1000
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Returns facts about the machine. Takes two seconds, in which none of our programs may run. */
export async function hostFacts(): Promise<HostFacts> {
  const { foreignShare, stolenShare } = await quietLook()
  return {
    cpuModel: os.cpus()[0]?.model.trim() ?? 'unknown',
    cpus: allowedCpus().length,
    memoryBytes: os.totalmem(),
    kernel: `${os.type()} ${os.release()}`,
    cpuScore: cpuScore(),
    foreignShare,
    stolenShare,
    versions: { sluice: gatewayVersion(), node: process.versions.node, v8: process.versions.v8 },
    source: sourceState(),
    settings: Object.fromEntries(machineFindings().map(({ subject, found }) => [subject, found])),
  }
}

/** Returns properties of the machine that make all results doubtful. */
export function hostWarnings({
  foreignShare,
  stolenShare,
}: Pick<HostFacts, 'foreignShare' | 'stolenShare'>): string[] {
  const percent = (share: number): string => `${Math.round(share * 100)} %`
  return [
    ...(foreignShare > QUIET_SHARE
      ? [`the machine was not quiet: other programs used ${percent(foreignShare)} of the CPU time`]
      : []),
    ...(stolenShare > QUIET_SHARE ? [`the hypervisor took ${percent(stolenShare)} of the time`] : []),
  ]
}

/** Returns the CPU shares of other programs and the hypervisor in one idle second, from 0 to 1. */
export async function quietLook(): Promise<Pick<HostFacts, 'foreignShare' | 'stolenShare'>> {
  const cpus = allowedCpus()
  const before = coreTimes(cpus)
  await sleep(LOOK_MS)
  const after = coreTimes(cpus)
  const elapsedMicros = Math.max(1, (after.atMono - before.atMono) * 1000 * cpus.length)
  return {
    foreignShare: Math.min(1, (after.busyMicros - before.busyMicros) / elapsedMicros),
    stolenShare: Math.min(1, (after.stolenMicros - before.stolenMicros) / elapsedMicros),
  }
}

const TEXT = JSON.stringify(
  Array.from({ length: 20 }, (_, i) => ({ id: i, name: `record ${i}`, price: i * 1.25 })),
)

/**
 * Returns thousands of rounds per second of a fixed calculation on one core: parsing, strings and a digest, as in a
 * gateway. Never change it, because runs of different machines are normalised by it.
 */
function cpuScore(): number {
  spin(250)
  return Math.round(spin(1000) * 100) / 100
}

/** Returns the number of rounds per millisecond. */
function spin(forMs: number): number {
  const startMono = performance.now()
  let rounds = 0
  for (; performance.now() - startMono < forMs; rounds++) {
    const records = JSON.parse(TEXT) as { readonly name: string }[]
    const names = records.map(({ name }) => name.toUpperCase()).join('&')
    createHash('sha256').update(names).digest('hex')
  }
  return rounds / (performance.now() - startMono)
}

/** Returns the commit of this checkout, or null outside of one. */
function sourceState(): HostFacts['source'] {
  const git = (...args: readonly string[]): string | null => {
    const { status, stdout } = spawnSync('git', ['--no-optional-locks', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return status === 0 ? stdout.trim() : null
  }
  const top = git('rev-parse', '--show-toplevel')
  // A package installed inside another checkout has no commit.
  if (top === null || realpathSync(top) !== realpathSync(ROOT)) return null
  const commit = git('rev-parse', '--verify', 'HEAD')
  return commit === null ? null : { commit, isDirty: git('status', '--porcelain', '-uno') !== '' }
}
