import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Maximum number of test files in a group. */
const GROUP_SIZE = 12
/**
 * Test files of packages whose tests mostly compute, and of gateways in the test process. Attacks count the requests of
 * their process.
 */
const GROUPED =
  /(?:^|\/)packages\/(?:(?:core|config|policies|policies-xml|logger)\/dist\/(?!attacks\/)|gateway\/dist\/policies\/).*\.js$/
/** Text of test files that start processes, or that change or measure their own process. */
const NEEDS_PROCESS =
  /node:(?:child_process|cluster|worker_threads)|process\.(?:env|chdir|exit|on|memoryUsage|cpuUsage)|mock\.|gc\(|heap/
const STARTS_PROCESS = /import .*(?:[sS]pawn|startElastic|sharedElastic|[pP]rocess|[vV]alkey|[rR]edis|slapd)/

/**
 * Returns the program that runs each test file: the file itself, or a group of files that share a process. A process
 * costs about 0.4 s of CPU time before its first test. A group holds files of one package.
 * @param folder the folder for the modules that import the files of a group
 */
export function programsOf(files, folder = 'node_modules/.cache/test-groups') {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const programs = new Map()
  const groups = []
  for (const file of files) {
    const group = needsProcess(file) ? null : groupFor(file, groups, folder)
    group?.members.push(file)
    programs.set(file, group?.path ?? file)
  }
  for (const { path, members } of groups) writeFileSync(path, members.map(importLine).join(''))
  return programs
}

function needsProcess(file) {
  if (!GROUPED.test(file)) return true
  const text = readFileSync(file, 'utf8')
  return NEEDS_PROCESS.test(text) || STARTS_PROCESS.test(text)
}

/** Returns the group of the file's package that has space, or adds one. */
function groupFor(file, groups, folder) {
  const name = file.split('/').slice(0, 2).join('-')
  const open = groups.find((group) => group.name === name && group.members.length < GROUP_SIZE)
  if (open !== undefined) return open
  const group = { name, path: join(folder, `${name}-${groups.length + 1}.mjs`), members: [] }
  groups.push(group)
  return group
}

function importLine(file) {
  return `import '${pathToFileURL(resolve(file))}'\n`
}
