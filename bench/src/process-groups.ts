/** Groups of processes that have to go with this one, however it ends. */
const groups = new Set<number>()
process.once('exit', () => {
  for (const group of groups) killGroup(group)
})

/** Has a group ended when this process ends. */
export function takeAlong(group: number): void {
  groups.add(group)
}

/** Leaves a group alone that has come to its end. */
export function letGo(group: number): void {
  groups.delete(group)
}

/** Ends all that is left in a group by force. */
export function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}
