import type { TextTranslation } from '../catalog.ts'
import type { starTexts as english } from '../stars.ts'

export const starTexts: TextTranslation<typeof english> = {
  title: 'الرسائل المميّزة بنجمة',
  empty: 'لا رسائل مميّزة بنجمة',
  emptyHint: 'ميّز رسالة بنجمة من قائمتها لتجدها هنا. أنت وحدك ترى نجومك.',
  sealed: 'افتح المحادثة لقراءة هذه الرسالة',
  remove: 'إزالة النجمة',
}
