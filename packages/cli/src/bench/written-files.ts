import { dirname, extname } from 'node:path'

/** More files of one kind than this in a folder are counted, because a run has one of them for each point. */
const MOST_NAMED = 3

/** What was written, for a line: `a/summary.json, a/report.md, a/latency (102 .hgrm files)`. */
export function writtenFiles(paths: readonly string[]): string {
  const kinds = new Map<string, string[]>()
  for (const path of paths) {
    const kind = `${dirname(path)} ${extname(path)}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), path])
  }
  return [...kinds.values()].flatMap(namesOf).join(', ')
}

function namesOf(files: readonly string[]): readonly string[] {
  const first = files[0]!
  return files.length <= MOST_NAMED ? files : [`${dirname(first)} (${files.length} ${extname(first)} files)`]
}
