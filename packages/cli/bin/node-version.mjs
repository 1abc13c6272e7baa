/**
 * Returns an error message if this version of Node.js is not supported, otherwise null. uWebSockets.js has binaries
 * for 20 and 22 only. The range equals `engines` in every package.json. The syntax works in any Node.js with modules.
 */
export function unsuitableNode(program, version) {
  const [major, minor] = version.split('.').map(Number)
  if (major === 22 || (major === 20 && minor >= 19)) return null
  return `${program} needs Node.js 20 (20.19 or later) or 22, but this is ${version}; install a supported version`
}
