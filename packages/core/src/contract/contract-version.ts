/**
 * Version of the plugin API: Policy, Step, CompileEnv, Exchange and Reply. Additions increment the minor
 * version, removals and changes the major version.
 */
export const CONTRACT_VERSION = '1.6.0'
