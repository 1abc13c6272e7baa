/**
 * Returns the CPU time that this process has used, in milliseconds. Unlike elapsed time, it hardly depends on other
 * processes.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
