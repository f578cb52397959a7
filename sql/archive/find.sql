-- needs: archive/place.sql
-- What a campaign tells of a time and a place, as it is known or was known on a day.

create or replace function archive._stood(known tstzrange, moment timestamptz)
returns boolean
language sql immutable parallel safe
return case when moment is null then upper_inf(known) else known @> moment end;

comment on function archive._stood(tstzrange, timestamptz) is
'Whether a version stands today, or stood at a moment.';

create or replace function archive.entries(
  campaign_id bigint,
  during tstzrange default null,
  box public.geometry default null,
  known timestamptz default null
)
returns setof public.entry
language plpgsql stable parallel safe rows 200
as $$
begin
  -- one plan for each way of asking, each by the index on campaign, time and place
  if box is null then
    return query
    select entry.*
    from public.entry
    where entry.campaign_id = entries.campaign_id
      and entry.during && coalesce(entries.during, tstzrange(null, null))
      and archive._stood(entry.known, entries.known)
    order by lower(entry.during) nulls first, entry.key;
  else
    return query
    select entry.*
    from public.entry
    where entry.campaign_id = entries.campaign_id
      and entry.during && coalesce(entries.during, tstzrange(null, null))
      and entry.geom && box
      and public.st_intersects(entry.geom, box)
      and archive._stood(entry.known, entries.known)
    order by lower(entry.during) nulls first, entry.key;
  end if;
end
$$;

comment on function archive.entries(bigint, tstzrange, public.geometry, timestamptz) is
'Entries of a campaign that fall into a time and a box (EPSG:4326), as known today or on a day, in the order of their beginnings.';

create or replace function archive.stances(
  campaign_id bigint,
  during tstzrange default null,
  box public.geometry default null,
  known timestamptz default null
)
returns setof public.stance
language plpgsql stable parallel safe rows 200
as $$
begin
  return query
  select stance.*
  from public.stance
  where stance.campaign_id = stances.campaign_id
    and stance.during && coalesce(stances.during, tstzrange(null, null))
    and (box is null or public.st_intersects(stance.geom, box))
    and archive._stood(stance.known, stances.known)
  order by lower(stance.during) nulls first, stance.key;
end
$$;

comment on function archive.stances(bigint, tstzrange, public.geometry, timestamptz) is
'Where forces were and how they stood in a time and a box (EPSG:4326), as known today or on a day.';

create or replace function archive.tracks(
  campaign_id bigint,
  until timestamptz default null,
  known timestamptz default null
)
returns table (force text, account text, stations bigint, during tstzrange, geom public.geometry)
language sql stable parallel safe rows 50
begin atomic
  select
    stance.force,
    stance.account,
    count(*) as stations,
    tstzrange(min(lower(stance.during)), max(lower(stance.during)), '[]') as during,
    public.st_makeline(
      public.st_pointonsurface(stance.geom) order by lower(stance.during) nulls first, stance.key
    ) as geom
  from archive.stances(tracks.campaign_id, tstzrange(null, tracks.until, '[]'), null, tracks.known) as stance
  where stance.geom is not null
  group by stance.force, stance.account
  having count(*) > 1
  order by stance.force, stance.account;
end;

comment on function archive.tracks(bigint, timestamptz, timestamptz) is
'The way of every force from place to place, by each account, up to a moment.';

create or replace function archive.order_of_battle(
  campaign_id bigint,
  moment timestamptz default null,
  account text default null,
  known timestamptz default null
)
returns table (path text[], depth integer, key text, name text, side text, kind text, told_by text)
language sql stable parallel safe rows 50
begin atomic
  with recursive there as (
    select
      force.key,
      force.name,
      force.side,
      force.kind
    from public.force
    where force.campaign_id = order_of_battle.campaign_id
      and archive._stood(force.known, order_of_battle.known)
  ),
  link as (
    -- where accounts differ, the one that was recorded first is taken
    select distinct on (told.force)
      told.force,
      told.superior,
      told.account
    from public.subordination as told
    where told.campaign_id = order_of_battle.campaign_id
      and archive._stood(told.known, order_of_battle.known)
      and (order_of_battle.moment is null or told.during @> order_of_battle.moment)
      and (order_of_battle.account is null or told.account = order_of_battle.account)
    order by told.force, lower(told.known), told.key
  ),
  tree as (
    select
      array[there.side, there.key] as path,
      0 as depth,
      there.key,
      there.name,
      there.side,
      there.kind,
      null::text as told_by
    from there
    where not exists (
      select
      from link
      where link.force = there.key
    )
    union all
    select
      tree.path || there.key,
      tree.depth + 1,
      there.key,
      there.name,
      there.side,
      there.kind,
      link.account
    from tree
    inner join link on tree.key = link.superior
    inner join there on link.force = there.key
    where not there.key = any(tree.path[2:])
  )
  select
    tree.path,
    tree.depth,
    tree.key,
    tree.name,
    tree.side,
    tree.kind,
    tree.told_by
  from tree
  order by tree.path;
end;

comment on function archive.order_of_battle(bigint, timestamptz, text, timestamptz) is
'The order of battle as a tree at a moment: every force below the one it stood under.';

create or replace function archive.calendar(campaign_id bigint, known timestamptz default null)
returns table (day date, entries bigint)
language sql stable parallel safe rows 50
begin atomic
  select
    begun.day,
    count(*) as entries
  from (
    select (lower(entry.during) at time zone 'UTC' + campaign.zone::interval)::date as day
    from public.entry
    inner join public.campaign on entry.campaign_id = campaign.id
    where entry.campaign_id = calendar.campaign_id
      and archive._stood(entry.known, calendar.known)
      and not lower_inf(entry.during)
  ) as begun
  group by begun.day
  order by begun.day;
end;

comment on function archive.calendar(bigint, timestamptz) is
'How many entries begin on each day, in the campaign''s own time.';

create or replace view archive.entry_feature as
select
  entry.id,
  entry.campaign_id,
  campaign.name as campaign,
  entry.key,
  entry.title,
  entry.kind,
  lower(entry.during) as begins,
  upper(entry.during) as ends,
  entry.precision,
  entry.about,
  entry.text,
  entry.event,
  entry.certainty,
  entry.hex,
  entry.place,
  entry.uncertainty,
  entry.forces,
  entry.account,
  entry.page,
  entry.during,
  entry.known,
  entry.geom
from public.entry
-- a left join is left out where nobody asks for the campaign's name
left join public.campaign on entry.campaign_id = campaign.id;

comment on view archive.entry_feature is
'Entries of all campaigns and all times of knowing, flat, for GIS: filter by campaign, and by upper_inf(known) for today.';

create or replace view archive.stance_feature as
select
  stance.id,
  stance.campaign_id,
  campaign.name as campaign,
  stance.key,
  stance.force,
  force.name,
  force.side,
  stance.state,
  lower(stance.during) as begins,
  upper(stance.during) as ends,
  stance.precision,
  stance.about,
  stance.hex,
  stance.place,
  stance.uncertainty,
  lower(stance.strength) as strength_least,
  upper(stance.strength) - 1 as strength_most,
  stance.account,
  stance.page,
  stance.during,
  stance.known,
  stance.geom
from public.stance
left join public.campaign on stance.campaign_id = campaign.id
left join public.force
  on stance.campaign_id = force.campaign_id
    and stance.force = force.key
    and upper_inf(force.known);

comment on view archive.stance_feature is
'Stances of all campaigns and all times of knowing, flat, for GIS: filter by campaign, and by upper_inf(known) for today.';
