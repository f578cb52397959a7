-- needs: gis/plane.sql
-- Places on real ground: a hex of a campaign's map lies where the map's georeference puts it.

create or replace function archive.hex_point(map_id bigint, label text)
returns public.geometry
language sql stable strict parallel safe
return (
  select public.st_transform(gis._world(hex.center, map.affine, map.srid), 4326)
  from public.hex
  inner join public.map on hex.map_id = map.id
  where hex.map_id = hex_point.map_id
    and hex.label = hex_point.label
    and map.srid is not null
);

comment on function archive.hex_point(bigint, text) is
'Where the centre of a hex of a georeferenced map lies, in longitude and latitude.';

create or replace function archive._lay(campaign_id bigint, label text, given public.geometry)
returns public.geometry
language plpgsql stable
as $$
declare
  board bigint := (select campaign.map_id from public.campaign where campaign.id = _lay.campaign_id);
begin
  if label is null then
    return given;
  elsif not exists (select from public.hex where hex.map_id = board and hex.label = _lay.label) then
    raise exception 'there is no hex % on the campaign''s map', _lay.label
      using errcode = 'foreign_key_violation', constraint = 'hex_on_map',
        hint = 'Name a hex of its map, or give longitude and latitude.';
  end if;
  return archive.hex_point(board, _lay.label);
end
$$;

comment on function archive._lay(bigint, text, public.geometry) is
'A place as it is kept: that of a hex is where its map lies, any other as it was given.';

create or replace function archive._lay_anew()
returns trigger
language plpgsql
as $$
declare
  placed text;
begin
  foreach placed in array array['entry', 'stance'] loop
    execute format(
      'update public.%I as told set geom = archive.hex_point($1, told.hex)'
      ' from public.campaign where told.campaign_id = campaign.id and campaign.map_id = $1 and told.hex is not null',
      placed
    ) using new.id;
  end loop;
  return null;
end
$$;

comment on function archive._lay_anew() is
'Trigger: when a map is laid elsewhere on the world, what is told by its hexes goes along.';

create or replace trigger lay_campaigns_anew
after update of srid, affine on public.map
for each row
when (old.srid is distinct from new.srid or old.affine is distinct from new.affine)
execute function archive._lay_anew();
