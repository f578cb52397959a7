-- A ruling that was kept never changes: whoever was given its address finds what was ruled.

create or replace function rulings._refuse_change()
returns trigger
language plpgsql
as $$
begin
  if current_setting('sightline.rulings_may_change', true) = 'yes' then
    if tg_op = 'UPDATE' then
      return new;
    end if;
    return old;
  end if;
  raise exception 'a kept ruling never changes (% refused)', lower(tg_op)
    using errcode = 'integrity_constraint_violation', table = 'ruling', constraint = 'ruling_immutable',
      hint = 'Ask again: what is ruled otherwise gets an id of its own.';
end
$$;

comment on function rulings._refuse_change() is
'Trigger: a kept ruling is neither updated nor deleted, unless the session sets sightline.rulings_may_change to yes.';

create or replace trigger ruling_immutable
before update or delete on public.ruling
for each row execute function rulings._refuse_change();

create or replace trigger ruling_not_emptied
before truncate on public.ruling
for each statement execute function rulings._refuse_change();
