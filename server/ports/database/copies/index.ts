export { backUp, restore, verifyBackup } from './backup.ts'
export { exportTo } from './export.ts'
export { CopyError, type Sums } from './sums.ts'
