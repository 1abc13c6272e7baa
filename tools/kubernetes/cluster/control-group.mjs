import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const MOUNT = '/sys/fs/cgroup'
const EMPTY_MS = 30_000

/** A control group for the pods of one cluster: one folder, or with version 1 one for each controller. */
export class ControlGroup {
  #name

  constructor(name) {
    this.#name = name
  }

  /** As the kubelet names it. */
  get path() {
    return `/${this.#name}`
  }

  create() {
    for (const folder of this.#folders()) mkdirSync(folder, { recursive: true })
  }

  /** Waits until no process is in it. */
  async remove() {
    const endMono = performance.now() + EMPTY_MS
    for (const folder of this.#folders()) {
      while (!isRemoved(folder)) {
        if (performance.now() > endMono) throw new Error(`processes are left in ${folder}`)
        await sleep(50)
      }
    }
  }

  #folders() {
    const isUnified = existsSync(join(MOUNT, 'cgroup.controllers'))
    const controllers = isUnified ? ['.'] : readdirSync(MOUNT)
    return controllers.map((controller) => join(MOUNT, controller, this.#name))
  }
}

function isRemoved(folder) {
  if (!existsSync(folder)) return true
  const below = readdirSync(folder, { withFileTypes: true, recursive: true })
  const folders = below.filter((entry) => entry.isDirectory())
  // The deepest first.
  const paths = folders
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .reverse()
  try {
    for (const path of [...paths, folder]) rmdirSync(path)
    return true
  } catch (error) {
    if (error.code === 'EBUSY') return false
    throw error
  }
}
