-- needs: archive/find.sql
-- Where two accounts of a campaign differ: side by side, neither above the other.

create or replace function archive._gap(one tstzrange, other tstzrange)
returns integer
language sql immutable strict parallel safe
return case
  when one && other then 0
  else round(extract(epoch from greatest(lower(one) - upper(other), lower(other) - upper(one))) / 60)::integer
end;

comment on function archive._gap(tstzrange, tstzrange) is
'Minutes that lie between two times; 0 where they overlap.';

create or replace function archive._apart(one public.geometry, other public.geometry)
returns integer
language sql immutable strict parallel safe
return round(public.st_distance(one::public.geography, other::public.geography))::integer;

comment on function archive._apart(public.geometry, public.geometry) is
'Metres between two places.';

create or replace function archive._event_pairs(one text, other text, told public.entry[])
returns table (event text, first_entry public.entry, second_entry public.entry)
language sql immutable parallel safe rows 20
begin atomic
  select
    mine.event,
    mine,
    theirs
  from unnest(told) as mine
  inner join unnest(told) as theirs on mine.event = theirs.event
  where mine.account = _event_pairs.one
    and theirs.account = _event_pairs.other;
end;

comment on function archive._event_pairs(text, text, public.entry[]) is
'Entries in which two accounts tell of the same event.';

create or replace function archive.differences(
  campaign_id bigint, one text, other text, known timestamptz default null
)
returns table (
  what text, subject text, first_key text, second_key text, first_during tstzrange, second_during tstzrange,
  minutes_apart integer, meters_apart integer, first_says text, second_says text,
  first_geom public.geometry, second_geom public.geometry
)
language sql stable parallel safe rows 50
begin atomic
  select
    'event' as what,
    (pair.first_entry).event as subject,
    (pair.first_entry).key as first_key,
    (pair.second_entry).key as second_key,
    (pair.first_entry).during as first_during,
    (pair.second_entry).during as second_during,
    archive._gap((pair.first_entry).during, (pair.second_entry).during) as minutes_apart,
    archive._apart((pair.first_entry).geom, (pair.second_entry).geom) as meters_apart,
    (pair.first_entry).title as first_says,
    (pair.second_entry).title as second_says,
    (pair.first_entry).geom as first_geom,
    (pair.second_entry).geom as second_geom
  from archive._event_pairs(
    differences.one,
    differences.other,
    array(
      -- by the index on events: most entries of a long chronicle stand alone
      select entry
      from public.entry
      where entry.campaign_id = differences.campaign_id
        and entry.event is not null
        and entry.account in (differences.one, differences.other)
        and archive._stood(entry.known, differences.known)
    )
  ) as pair
  where (pair.first_entry).during <> (pair.second_entry).during
    or (pair.first_entry).involved <> (pair.second_entry).involved
    or not public.st_equals((pair.first_entry).geom, (pair.second_entry).geom)
  union all
  select
    'stance' as what,
    mine.force as subject,
    mine.key as first_key,
    theirs.key as second_key,
    mine.during as first_during,
    theirs.during as second_during,
    0 as minutes_apart,
    archive._apart(mine.geom, theirs.geom) as meters_apart,
    coalesce(nullif(mine.state, ''), mine.place) as first_says,
    coalesce(nullif(theirs.state, ''), theirs.place) as second_says,
    mine.geom as first_geom,
    theirs.geom as second_geom
  from archive.stances(differences.campaign_id, null, null, differences.known) as mine
  inner join archive.stances(differences.campaign_id, null, null, differences.known) as theirs
    on mine.force = theirs.force
      and mine.during && theirs.during
  where mine.account = differences.one
    and theirs.account = differences.other
    and (
      mine.state <> theirs.state
      or archive._apart(mine.geom, theirs.geom) > coalesce(mine.uncertainty, 0) + coalesce(theirs.uncertainty, 0)
    )
  order by 5, 1, 2;
end;

comment on function archive.differences(bigint, text, text, timestamptz) is
'Where two accounts differ: events they both tell of, and forces that they have elsewhere or in another state at one time.';
