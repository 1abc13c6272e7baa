import { createHash } from 'node:crypto'
import { formatSize } from '@sluice/core'
import type { DocumentDigest, GroupLimits, MachineSettings, SourceState } from '../model/machine.js'
import type { HostFacts } from '../model/summary.js'
import { countText, significant } from './figures.js'

/** Enough to tell two digests apart by eye. */
const SHORT = 12

/** What is known of the measured code, the settings of the machine and the limits around the run; a row each. */
export function machineRows({ source, settings, limits, documents }: HostFacts): [string, string][] {
  return [
    ...(source === undefined ? [] : [row('Source', sourceText(source))]),
    ...(documents === undefined || Object.keys(documents).length === 0
      ? []
      : [row('Configuration', documentsText(documents))]),
    ...(settings === undefined ? [] : settingRows(settings)),
    ...(limits === undefined ? [] : [row('Limits of the container', limitsText(limits))]),
  ]
}

/** `commit 1a2b3c, with changes`. */
export function sourceText(source: SourceState | null): string {
  if (source === null) return 'no checkout; the version stands for it'
  return `commit ${source.commit}${source.isDirty ? ', with changes that are not committed' : ''}`
}

function row(name: string, text: string): [string, string] {
  return [name, text]
}

/** All of a run as one: equal where every scenario of two runs had the same document. */
function documentsText(documents: Readonly<Record<string, DocumentDigest>>): string {
  const lines = Object.entries(documents).map(([scenario, { sha256 }]) => `${scenario} ${sha256}\n`)
  const digest = createHash('sha256').update(lines.toSorted().join('')).digest('hex')
  const count = `${countText(lines.length)} document${lines.length === 1 ? '' : 's'} of the gateway`
  return `${count}, together ${digest.slice(0, SHORT)}; the digest of each is in summary.json`
}

function settingRows(settings: MachineSettings): [string, string][] {
  const { governor, turbo, siblings, openFiles, transparentHugePages } = settings
  const turboText = turbo === null ? 'turbo not known' : `turbo ${turbo ? 'on' : 'off'}`
  return [
    row('Clock of the cores', `governor ${governor ?? 'not known'}, ${turboText}`),
    row('Threads of each core', siblings.join(' ')),
    row('Open files', openFiles === null ? 'any number' : countText(openFiles)),
    row('Transparent huge pages', transparentHugePages ?? 'none'),
  ]
}

function limitsText({ cpus, cpuset, memoryBytes }: GroupLimits): string {
  return [
    cpus === null ? 'no CPU quota' : `CPU time of ${significant(cpus)} cores`,
    cpuset === null ? 'cores not told' : `cores ${cpuset}`,
    memoryBytes === null ? 'no memory limit' : `${formatSize(memoryBytes)} of memory`,
  ].join(', ')
}
