import type { TextTranslation } from '../catalog.ts'
import type { deleteAccountTexts as english } from '../delete-account.ts'

export const deleteAccountTexts: TextTranslation<typeof english> = {
  title: 'حذف الحساب',
  kept: 'كان هذا الحساب على وشك الحذف. احتفظتَ به بتسجيل الدخول في {time}.',
  hint: 'يزيل حسابك وكل ما يخصك. نزّل بياناتك أولًا.',
  begun: 'سيُحذف حسابك في {time}. سجّل الدخول قبل ذلك للاحتفاظ به.',
  counts: {
    rooms:
      '{count, plural, zero {لا غرف} one {غرفة واحدة} two {غرفتان} few {# غرف} many {# غرفة} other {# غرفة}}: يصبح أحد المشرفين أو الأعضاء المالك، أو تُؤرشف الغرفة.',
    agents:
      '{count, plural, zero {لا وكلاء} one {وكيل واحد} two {وكيلان} few {# وكلاء} many {# وكيلًا} other {# وكيل}}: حذف.',
    streams:
      '{count, plural, zero {لا بثوث} one {بث مباشر واحد} two {بثان مباشران} few {# بثوث مباشرة} many {# بثًا مباشرًا} other {# بث مباشر}}: إنهاء وحذف، مع كل التسجيلات.',
    calls:
      '{count, plural, zero {لا مكالمات قادمة} one {مكالمة قادمة واحدة} two {مكالمتان قادمتان} few {# مكالمات قادمة} many {# مكالمة قادمة} other {# مكالمة قادمة}}: إلغاء، مع بريد إلى الشخص الآخر.',
    webhooks:
      '{count, plural, zero {لا روابط Webhook} one {رابط Webhook واحد} two {رابطا Webhook} few {# روابط Webhook} many {# رابط Webhook} other {# رابط Webhook}}: حذف.',
    payments:
      '{count, plural, zero {لا مدفوعات} one {دفعة واحدة} two {دفعتان} few {# دفعات} many {# دفعة} other {# دفعة}}: تُحفظ دون اسمك كما يطلب قانون الضرائب.',
  },
  others: 'ملفك الشخصي وأصدقاؤك وملفاتك وأجهزتك وإعداداتك: حذف.',
  grace:
    'يُسجَّل خروجك فورًا. يمكنك تسجيل الدخول للاحتفاظ بالحساب خلال {days, plural, zero {# يوم} one {يوم واحد} two {يومين} few {# أيام} many {# يومًا} other {# يوم}}.',
  atOnce: 'يحدث هذا فورًا ولا يمكن التراجع عنه.',
  messages: 'رسائلك',
  unlink: 'إبقاؤها للآخرين باسم “Deleted user”',
  erase: 'حذفها في كل مكان',
  confirm: 'اكتب {name} للتأكيد',
}
