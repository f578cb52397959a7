-- Nothing is lost by editing: a row that is updated or deleted leaves its old version behind.
--
-- What stands today has no end of known. Before a change the new version gets its beginning,
-- after it the old one is written again with its end; so the two never overlap, and the
-- exclusion constraints hold in every past state of knowledge as they do today. Who writes
-- is told by the session: set local sightline.who = 'B. Archivist'.

create or replace function archive.who()
returns text
language sql stable parallel safe
return coalesce(nullif(current_setting('sightline.who', true), ''), session_user);

comment on function archive.who() is
'Who writes: as the session tells it (sightline.who), else the database''s user.';

create or replace function archive._begin_version()
returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    -- written by _keep_version: the version that was
    if pg_trigger_depth() > 1 and not upper_inf(new.known) then
      return new;
    end if;
    new.known := tstzrange(clock_timestamp(), null);
    new.writer := archive.who();
    new.ended_by := null;
    return new;
  end if;
  if archive._is_laid_anew(to_jsonb(old), to_jsonb(new)) then
    return new;
  elsif not upper_inf(old.known) then
    raise exception 'what was once known of a campaign never changes (% of % refused)', lower(tg_op), tg_table_name
      using errcode = 'integrity_constraint_violation', table = tg_table_name, constraint = 'known_immutable',
        hint = 'Correct the version of today: the one whose known has no end.';
  elsif to_jsonb(old) ->> archive._identity(tg_table_name) <> to_jsonb(new) ->> archive._identity(tg_table_name) then
    raise exception '% % keeps its name', tg_table_name, to_jsonb(old) ->> archive._identity(tg_table_name)
      using errcode = 'integrity_constraint_violation', table = tg_table_name, constraint = 'name_immutable',
        hint = 'Record it under the other name, and delete this one.';
  end if;
  -- two changes within a microsecond are two versions all the same
  new.known := tstzrange(greatest(clock_timestamp(), lower(old.known) + interval '1 microsecond'), null);
  new.writer := archive.who();
  new.ended_by := null;
  return new;
end
$$;

comment on function archive._begin_version() is
'Trigger: a new version is known from now on; one that was never changes.';

create or replace function archive._identity(table_name name)
returns text
language sql immutable strict parallel safe
return case when table_name = 'campaign' then 'name' else 'key' end;

comment on function archive._identity(name) is
'The column that tells a thing from version to version.';

create or replace function archive._is_laid_anew(old jsonb, new jsonb)
returns boolean
language sql immutable strict parallel safe
return
  (old ->> 'hex' is not null and (old - 'geom') = (new - 'geom'))
  or (old ? 'map_id' and new ->> 'map_id' is null and (old - 'map_id') = (new - 'map_id'));

comment on function archive._is_laid_anew(jsonb, jsonb) is
'Whether nothing that was recorded has changed: a hex lies elsewhere in the world, or a campaign''s map was deleted.';

create or replace function archive._keep_version()
returns trigger
language plpgsql
as $$
declare
  ended timestamptz;
  columns text;
begin
  if tg_op = 'UPDATE' then
    if new.known = old.known then
      return null;
    end if;
    ended := lower(new.known);
  elsif upper_inf(old.known) and exists (select from public.campaign where campaign.id = old.campaign_id) then
    ended := greatest(clock_timestamp(), lower(old.known) + interval '1 microsecond');
  else
    return null;
  end if;
  select string_agg(quote_ident(attname), ', ' order by attnum)
  into columns
  from pg_catalog.pg_attribute
  where attrelid = tg_relid
    and attnum > 0
    and not attisdropped
    and attname not in ('id', 'known', 'ended_by');
  execute format(
    'insert into public.%I (%s, known, ended_by) select %s, tstzrange(lower(known), $2), $3 from (select $1.*) as was',
    tg_table_name, columns, columns
  ) using old, ended, archive.who();
  return null;
end
$$;

comment on function archive._keep_version() is
'Trigger: the version that was stays, with the end of its time.';

create or replace function archive._may_be_deleted()
returns trigger
language plpgsql
as $$
begin
  -- a campaign that is deleted as a whole takes its past along
  if upper_inf(old.known) then
    return old;
  elsif tg_table_name = 'campaign' then
    if not exists (select from public.campaign where campaign.name = old.name and upper_inf(campaign.known)) then
      return old;
    end if;
  elsif not exists (select from public.campaign where campaign.id = old.campaign_id) then
    return old;
  end if;
  raise exception 'what was once known of a campaign is not deleted (%)', tg_table_name
    using errcode = 'integrity_constraint_violation', table = tg_table_name, constraint = 'known_immutable',
      hint = 'Delete the version of today: the one whose known has no end.';
end
$$;

comment on function archive._may_be_deleted() is
'Trigger: only what stands today can be deleted, unless the campaign goes as a whole.';

create or replace function archive._forget_campaign()
returns trigger
language plpgsql
as $$
begin
  if upper_inf(old.known) then
    delete from public.campaign where campaign.name = old.name;
  end if;
  return null;
end
$$;

comment on function archive._forget_campaign() is
'Trigger: a campaign that is deleted takes its earlier versions along.';

create or replace trigger begin_version
before insert or update on public.campaign
for each row execute function archive._begin_version();

create or replace trigger keep_version
after update on public.campaign
for each row execute function archive._keep_version();

create or replace trigger may_be_deleted
before delete on public.campaign
for each row execute function archive._may_be_deleted();

create or replace trigger forget_campaign
after delete on public.campaign
for each row execute function archive._forget_campaign();

do $watch$
declare
  recorded text;
begin
  foreach recorded in array array['account', 'force', 'subordination', 'entry', 'stance'] loop
    execute format(
      'create or replace trigger begin_version before insert or update on public.%I'
      ' for each row execute function archive._begin_version()', recorded
    );
    execute format(
      'create or replace trigger keep_version after update or delete on public.%I'
      ' for each row execute function archive._keep_version()', recorded
    );
    execute format(
      'create or replace trigger may_be_deleted before delete on public.%I'
      ' for each row execute function archive._may_be_deleted()', recorded
    );
  end loop;
end
$watch$;
