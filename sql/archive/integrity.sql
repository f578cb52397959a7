-- needs: archive/place.sql
-- What an account tells names forces, accounts and hexes that there are.

create or replace function archive._require(campaign_id bigint, kind text, key text)
returns void
language plpgsql stable
as $$
begin
  if kind = 'account' then
    perform from public.account
    where account.campaign_id = _require.campaign_id and account.key = _require.key and upper_inf(account.known);
  else
    perform from public.force
    where force.campaign_id = _require.campaign_id and force.key = _require.key and upper_inf(force.known);
  end if;
  if not found then
    raise exception 'the campaign has no % %', kind, coalesce(key, 'without a key')
      using errcode = 'foreign_key_violation', constraint = kind || '_is_there',
        hint = 'Record it first.';
  end if;
end
$$;

comment on function archive._require(bigint, text, text) is
'Refuses the key of a force or an account that the campaign does not have today.';

create or replace function archive._check_entry()
returns trigger
language plpgsql
as $$
begin
  if upper_inf(new.known) and (tg_op = 'INSERT' or new.known <> old.known) then
    new.forces := array(select told ->> 'force' from jsonb_array_elements(new.involved) as told);
    perform archive._require(new.campaign_id, 'account', new.account);
    perform archive._require(new.campaign_id, 'force', key) from unnest(new.forces) as key;
    new.geom := archive._lay(new.campaign_id, new.hex, new.geom);
  end if;
  return new;
end
$$;

comment on function archive._check_entry() is
'Trigger: an entry names forces and an account that there are, and lies where its hex does.';

create or replace function archive._check_stance()
returns trigger
language plpgsql
as $$
begin
  if upper_inf(new.known) and (tg_op = 'INSERT' or new.known <> old.known) then
    perform archive._require(new.campaign_id, 'account', new.account);
    perform archive._require(new.campaign_id, 'force', new.force);
    new.geom := archive._lay(new.campaign_id, new.hex, new.geom);
  end if;
  return new;
end
$$;

comment on function archive._check_stance() is
'Trigger: a stance is of a force and by an account that there are, and lies where its hex does.';

create or replace function archive._check_subordination()
returns trigger
language plpgsql
as $$
begin
  if not upper_inf(new.known) then
    return new;
  end if;
  perform archive._require(new.campaign_id, 'account', new.account);
  perform archive._require(new.campaign_id, 'force', new.force);
  perform archive._require(new.campaign_id, 'force', new.superior);
  if exists (
    with recursive above (key, during) as (
      select
        new.superior,
        new.during
      union
      select
        link.superior,
        above.during * link.during
      from above
      inner join public.subordination as link
        on link.campaign_id = new.campaign_id
          and link.account = new.account
          and link.force = above.key
          and upper_inf(link.known)
          and link.during && above.during
          and link.key <> new.key
    )
    select from above where above.key = new.force
  ) then
    raise exception '% would stand under itself', new.force
      using errcode = 'check_violation', table = 'subordination', constraint = 'subordination_tree',
        hint = 'An order of battle is a tree: end the one subordination before the other begins.';
  end if;
  return new;
end
$$;

comment on function archive._check_subordination() is
'Trigger: an order of battle is a tree at every moment, by each account.';

create or replace function archive._check_unused()
returns trigger
language plpgsql
as $$
declare
  users text;
begin
  if not upper_inf(old.known) or not exists (select from public.campaign where campaign.id = old.campaign_id) then
    return old;
  end if;
  select string_agg(used.key, ', ' order by used.key)
  into users
  from (
    select entry.key from public.entry
    where entry.campaign_id = old.campaign_id and upper_inf(entry.known)
      and case when tg_table_name = 'force' then entry.forces @> array[old.key] else entry.account = old.key end
    union all
    select stance.key from public.stance
    where stance.campaign_id = old.campaign_id and upper_inf(stance.known)
      and case when tg_table_name = 'force' then stance.force else stance.account end = old.key
    union all
    select link.key from public.subordination as link
    where link.campaign_id = old.campaign_id and upper_inf(link.known)
      and case when tg_table_name = 'force' then old.key in (link.force, link.superior) else link.account = old.key end
    limit 8
  ) as used;
  if users is not null then
    raise exception '% % is still named by %', tg_table_name, old.key, users
      using errcode = 'foreign_key_violation', table = tg_table_name, constraint = tg_table_name || '_unused',
        hint = 'Delete or change those first.';
  end if;
  return old;
end
$$;

comment on function archive._check_unused() is
'Trigger: a force or an account that something names is not deleted.';

-- names sort after begin_version, so that known is set when these look at it
create or replace trigger check_unused before delete on public.force
for each row execute function archive._check_unused();

create or replace trigger check_unused before delete on public.account
for each row execute function archive._check_unused();

create or replace trigger check_entry before insert or update on public.entry
for each row execute function archive._check_entry();

create or replace trigger check_stance before insert or update on public.stance
for each row execute function archive._check_stance();

create or replace trigger check_subordination before insert or update on public.subordination
for each row execute function archive._check_subordination();
