import { isAbsolute, relative, resolve } from 'node:path'
import { parseDuration, parseSize } from '@sluice/core'
import { type DocumentPath, formatPath } from '../diagnostic/document-path.js'
import { fileDir, sinkOf } from '../planning/log-plan.js'
import { spoolDir } from '../planning/log-target-plans.js'
import type { LogSinkName } from '../schema/log.js'
import { TRACES } from '../schema/tracing.js'
import { checkGeoDatabase, checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'
import { checkTlsFiles } from './key-pair-check.js'

type LogDocument = Inspection['document']['log']
type Outlet = LogDocument | LogDocument['outputs'][number]

interface Position {
  readonly outlet: Outlet
  readonly sink: LogSinkName
  readonly path: DocumentPath
  /** Folder in which it stores records; null: none. */
  readonly dir: string | null
}

/** Folder in which a target stores records. */
interface Place extends Pick<Position, 'path' | 'dir'> {
  readonly sink: LogSinkName | 'exporter'
}

/** Checks the traffic log: required settings of targets, separate folders, and size limits. */
export function checkLog(inspection: Inspection): void {
  const { document, origins, report } = inspection
  const { log } = document
  checkSegments(inspection, log, ['log'])
  for (const [target, path] of origins.entries(log.outputs, ['log', 'outputs']))
    checkSegments(inspection, target, path)
  const metricsCa = document.metrics.otlp?.tls.caFile
  if (metricsCa !== undefined && report.isValid(['metrics']))
    checkPemFile(inspection, metricsCa, ['metrics', 'otlp', 'tls', 'caFile'])
  if (!report.isValid(['log'])) return
  const locations: Position[] = [positionOf(log, sinkOf(log), ['log'], '')]
  for (const [target, path] of origins.entries(log.outputs, ['log', 'outputs']))
    locations.push(positionOf(target, target.sink, path, `-${target.id}`))
  for (const location of locations) checkLocation(inspection, location)
  checkIds(inspection)
  checkDirs(inspection, [...locations, ...exporterOf(inspection)])
  for (const location of locations) warnAboutAbandonedDir(inspection, location)
  checkStreams(inspection, locations)
  if (log.geo !== undefined) checkGeoDatabase(inspection, log.geo.file, ['log', 'geo', 'file'])
}

function positionOf(outlet: Outlet, sink: Position['sink'], path: DocumentPath, suffix: string): Position {
  return { outlet, sink, path, dir: dirOf(outlet, sink, suffix) }
}

function dirOf(outlet: Outlet, sink: Position['sink'], suffix: string): string | null {
  if (sink === 'none') return null
  if (sink === 'file') return fileDir(outlet.file.dir, suffix)
  return spoolDir(outlet[sink]?.spool.dir, suffix)
}

/** Checks that at least two segments fit, because otherwise the segment being written would be deleted. */
function checkSegments({ report }: Inspection, { file }: Outlet, path: DocumentPath): void {
  const { maxBytes, segmentBytes } = file
  if (!report.isValid([...path, 'file']) || segmentBytes === undefined) return
  if (parseSize(segmentBytes) * 2 <= parseSize(maxBytes)) return
  report.add({
    path: [...path, 'file', 'segmentBytes'],
    message: 'segmentBytes is more than half of maxBytes',
    remedy: 'raise maxBytes or lower segmentBytes',
  })
}

/** Checks that target ids are unique and do not use the name of the main target. */
function checkIds({ document, origins, report }: Inspection): void {
  const seen = new Set(['main'])
  if (document.tracing?.exporter !== undefined) seen.add(TRACES)
  for (const [{ id }, path] of origins.entries(document.log.outputs, ['log', 'outputs'])) {
    const location = [...path, 'id']
    if (seen.has(id)) {
      const message =
        id === 'main' || id === TRACES
          ? `the id '${id}' is reserved for ${id === 'main' ? 'log.sink' : 'tracing.exporter'}`
          : `two log targets have the id ${report.quote(id, location)}`
      report.add({ path: location, message, remedy: 'rename the target' })
    }
    seen.add(id)
  }
}

/** Checks that targets use separate folders: a target would deliver records left behind by another one. */
function checkDirs({ report }: Inspection, locations: readonly Place[]): void {
  const seen = new Map<string, Place>()
  for (const location of locations) {
    if (location.dir === null) continue
    const dir = resolve(location.dir)
    const other = seen.get(dir)
    seen.set(dir, location)
    if (other === undefined) continue
    const names = [other, location].map(({ path }) => formatPath(path)).join(' and ')
    report.add({
      path: location.path,
      message: `${names} write to the same folder`,
      remedy:
        location.sink === 'file' ? 'choose another file.dir' : `choose another ${location.sink}.spool.dir`,
    })
  }
}

/** Returns the spool of `tracing.exporter`, after checking its CA file. */
function exporterOf(inspection: Inspection): Place[] {
  const exporter = inspection.document.tracing?.exporter
  if (exporter === undefined || !inspection.report.isValid(['tracing'])) return []
  const path = ['tracing', 'exporter']
  const { caFile } = exporter.tls
  if (caFile !== undefined) checkPemFile(inspection, caFile, [...path, 'tls', 'caFile'])
  return [{ sink: 'exporter', path, dir: spoolDir(exporter.spool.dir, `-${TRACES}`) }]
}

/** Warns about a spool in the working directory that would be left behind with undelivered records. */
function warnAboutAbandonedDir(
  { report, folder, exists }: Inspection,
  { outlet, sink, path }: Position,
): void {
  const written = sink === 'file' ? outlet.file.dir : sink === 'none' ? undefined : outlet[sink]?.spool.dir
  if (written === undefined || isAbsolute(written)) return
  const [there, here] = [resolve(folder, written), resolve(written)]
  if (there === here || exists(there) || !exists(here)) return
  report.add({
    path: [...path, ...(sink === 'file' ? ['file', 'dir'] : [sink, 'spool', 'dir'])],
    severity: 'warning',
    rule: 'moved-log',
    message: `records go to ${report.quote(written, path)} in the folder of the document, but the working directory has such a folder too`,
    remedy: `to keep using that one, write ${relative(folder, here)} or an absolute path`,
  })
}

/**
 * Checks that targets which manage the same data stream use the same settings. Otherwise each would overwrite
 * the settings of the other.
 */
function checkStreams({ report }: Inspection, locations: readonly Position[]): void {
  const seen: Position[] = []
  for (const location of locations) {
    const stream = managedStream(location)
    if (stream === null) continue
    const other = seen.find((one) => isSetUpOtherwise(managedStream(one)!, stream))
    seen.push(location)
    if (other === undefined) continue
    const names = [other, location].map(({ path }) => formatPath([...path, 'elasticsearch'])).join(' and ')
    report.add({
      path: [...location.path, 'elasticsearch'],
      message: `${names} manage the same data stream with different retention or replicas`,
      remedy: 'use the same values for both, another dataStream, or manage: false for one of them',
    })
  }
}

type StreamSettings = NonNullable<Outlet['elasticsearch']>

function managedStream({ outlet, sink }: Position): StreamSettings | null {
  const { elasticsearch } = outlet
  return sink === 'elasticsearch' && elasticsearch?.manage === true ? elasticsearch : null
}

function isSetUpOtherwise(one: StreamSettings, other: StreamSettings): boolean {
  const isSameStream =
    one.dataStream === other.dataStream && one.nodes.some((node) => other.nodes.includes(node))
  return isSameStream && (one.replicas !== other.replicas || retentionMs(one) !== retentionMs(other))
}

function retentionMs({ retention }: StreamSettings): number {
  return retention === undefined ? Number.POSITIVE_INFINITY : parseDuration(retention)
}

function checkLocation(inspection: Inspection, location: Position): void {
  checkSettings(inspection, location)
  checkElasticsearch(inspection, location)
  checkHttp(inspection, location, 'webhook')
  checkHttp(inspection, location, 'loki')
  checkOtlp(inspection, location)
  checkLabels(inspection, location)
  checkClientTls(inspection, location)
}

/** Example settings for kinds of targets that require some. */
const EXAMPLES = {
  elasticsearch: 'nodes: [http://127.0.0.1:9200]',
  syslog: 'address: udp://127.0.0.1:514',
  webhook: 'url: https://logs.example.com/traffic',
  loki: 'url: http://127.0.0.1:3100',
  kafka: 'brokers: [127.0.0.1:9092] and topic: traffic',
  otlp: 'endpoint: http://127.0.0.1:4318',
  custom: "module: './target.mjs'",
} as const

function checkSettings({ report }: Inspection, { outlet, sink, path }: Position): void {
  if (sink === 'file' || sink === 'stdout' || sink === 'none' || outlet[sink] !== undefined) return
  const needed = formatPath([...path, sink])
  report.add({
    path: [...path, 'sink'],
    message: `a log target with sink: ${sink} needs ${needed}`,
    remedy: `add ${needed} with ${EXAMPLES[sink]}`,
  })
}

function checkElasticsearch({ report }: Inspection, { outlet, path }: Position): void {
  const { elasticsearch } = outlet
  if (elasticsearch?.product === 'opensearch' && elasticsearch.retention !== undefined)
    report.add({
      path: [...path, 'elasticsearch', 'retention'],
      message: 'OpenSearch has no lifecycles of data streams',
      remedy: 'remove retention, and delete old records with an ISM policy',
    })
  if (isPaired(elasticsearch?.auth?.username, elasticsearch?.auth?.password)) return
  report.add({
    path: [...path, 'elasticsearch', 'auth'],
    message: 'username and password must be set together',
    remedy: 'set both, or use apiKey',
  })
}

/** Checks the TLS files of targets with client certificates. */
function checkClientTls(inspection: Inspection, { outlet, path: location }: Position): void {
  for (const kind of ['syslog', 'kafka'] as const) {
    const { tls } = outlet[kind] ?? {}
    if (tls === undefined) continue
    const path = [...location, kind, 'tls']
    checkTlsFiles(inspection, tls, path)
    if (isPaired(tls.certFile, tls.keyFile)) continue
    inspection.report.add({
      path,
      message: 'certFile and keyFile must be set together',
      remedy: 'set both or neither',
    })
  }
}

function checkHttp(inspection: Inspection, { outlet, path }: Position, kind: 'webhook' | 'loki'): void {
  const { tls, auth } = outlet[kind] ?? {}
  if (tls?.caFile !== undefined) checkPemFile(inspection, tls.caFile, [...path, kind, 'tls', 'caFile'])
  if (isPaired(auth?.username, auth?.password)) return
  inspection.report.add({
    path: [...path, kind, 'auth'],
    message: 'username and password must be set together',
    remedy: 'set both, or use token',
  })
}

function checkOtlp(inspection: Inspection, { outlet, path }: Position): void {
  const { caFile } = outlet.otlp?.tls ?? {}
  if (caFile !== undefined) checkPemFile(inspection, caFile, [...path, 'otlp', 'tls', 'caFile'])
}

/** Checks that streams have a label, because Loki refuses entries without labels. */
function checkLabels({ report }: Inspection, { outlet: { loki }, path }: Position): void {
  if (loki === undefined || loki.recordLabels.length > 0 || Object.keys(loki.labels).length > 0) return
  report.add({
    path: [...path, 'loki', 'labels'],
    message: 'Loki needs at least one label',
    remedy: 'add labels or recordLabels',
  })
}

function isPaired(one: string | undefined, other: string | undefined): boolean {
  return (one === undefined) === (other === undefined)
}
