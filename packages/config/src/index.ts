export * from './plan.js'
